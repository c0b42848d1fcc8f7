/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/nvml/library.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define NAMES_MAX 3

struct symbol {
    size_t offset;
    const char *names[NAMES_MAX + 1]; /* the first that exists counts; NULL ends them */
};

static const struct symbol symbols[] = {
#define NVML_ROW(member, parameters, ...) {offsetof(struct nvml_library, member), {__VA_ARGS__}},
    NVML_SYMBOLS(NVML_ROW)
#undef NVML_ROW
};

/* Where the library is: by the loader's search, and where WSL puts it. */
static const char *const places[] = {
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

const char *nvml_result_name(int32_t result)
{
    switch ((enum nvml_return)result) {
    case NVML_SUCCESS:
        return "success";
    case NVML_UNINITIALIZED:
        return "not initialized";
    case NVML_INVALID_ARGUMENT:
        return "invalid argument";
    case NVML_NOT_SUPPORTED:
        return "not supported";
    case NVML_NO_PERMISSION:
        return "no permission";
    case NVML_NOT_FOUND:
        return "not found";
    case NVML_INSUFFICIENT_SIZE:
        return "insufficient size";
    case NVML_DRIVER_NOT_LOADED:
        return "the driver is not loaded";
    case NVML_TIMEOUT:
        return "timeout";
    case NVML_FUNCTION_NOT_FOUND:
        return "function not found";
    case NVML_GPU_IS_LOST:
        return "the GPU is lost";
    case NVML_RESET_REQUIRED:
        return "the GPU requires a reset";
    case NVML_LIB_RM_VERSION_MISMATCH:
        return "the driver was changed and its library does not fit it";
    }
    return "an unknown error";
}

static int open_handle(struct nvml_library *library, struct err *err)
{
    OWN_BUF struct buf tried = {0};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        library->handle = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        if (library->handle != NULL) {
            return 0;
        }
        buf_format(&tried, "%s%s", i > 0 ? ", " : "", places[i]);
    }
    return err_set(err, -ENODEV, "the NVIDIA driver's library was not found (tried %s)",
                   buf_string(&tried));
}

int nvml_library_open(struct nvml_library *library, struct err *err)
{
    *library = (struct nvml_library){0};
    int code = open_handle(library, err);
    if (code != 0) {
        return code;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = NULL;
        for (const char *const *name = symbols[i].names; found == NULL && *name != NULL; name++) {
            found = dlsym(library->handle, *name);
        }
        memcpy((char *)library + symbols[i].offset, &found, sizeof found);
    }
    int32_t result = NVML_FUNCTION_NOT_FOUND;
    if (library->init != NULL && library->count != NULL && library->device != NULL) {
        result = library->init();
    }
    if (result != NVML_SUCCESS) {
        (void)dlclose(library->handle);
        *library = (struct nvml_library){0};
        return err_set(err, -ENODEV, "the NVIDIA driver does not answer: nvmlInit says %d (%s)",
                       result, nvml_result_name(result));
    }
    return 0;
}

void nvml_library_close(struct nvml_library *library)
{
    if (library->handle == NULL) {
        return;
    }
    if (library->shutdown != NULL) {
        (void)library->shutdown();
    }
    (void)dlclose(library->handle);
    *library = (struct nvml_library){0};
}
