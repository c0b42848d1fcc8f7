/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A libnvidia-ml.so.1 for tests, played from a scenario (tests/fake/README.md):
 *   FAKE_GPU_SCENARIO=file   FAKE_NVML_LOG=file (optional: one line a call) */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
typedef unsigned int u32;
typedef unsigned long long u64;
typedef void *dev_t_;
struct rule {
    int dev;
    char call[96], arg[48];
    long nth;
    int sleep_ms, hang, ret;
    char rest[4096];
};
static struct rule R[512];
static int nr = -1, ndev = 1;
static struct {
    char call[96];
    int dev;
    long n;
} K[2048];
static int nk;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

/* "gpu … end" blocks: the machine in nvidia-smi's words, for both fakes. */
static struct {
    char key[64], value[128];
} G[64][80];
static int ng[64], blocks;
static void block_line(const char *b, int *inside)
{
    while (*b == ' ' || *b == '\t')
        b++;
    if (!strcmp(b, "gpu") && blocks < 64) {
        *inside = 1;
        blocks++;
        if (blocks > ndev)
            ndev = blocks;
        return;
    }
    if (!strcmp(b, "end")) {
        *inside = 0;
        return;
    }
    if (!*inside)
        return;
    const char *sp = strchr(b, ' ');
    int *n = &ng[blocks - 1];
    if (!sp || *n >= 80)
        return;
    snprintf(G[blocks - 1][*n].key, 64, "%.*s", (int)(sp - b), b);
    snprintf(G[blocks - 1][*n].value, 128, "%s", sp + 1);
    ++*n;
}
static const char *block_text(int dev, const char *key)
{
    if (dev < 0 || dev >= blocks)
        return NULL;
    for (int i = 0; i < ng[dev]; i++)
        if (!strcmp(G[dev][i].key, key))
            return G[dev][i].value;
    return NULL;
}
static int block_number(int dev, const char *key, double *out)
{
    const char *t = block_text(dev, key);
    char *end;
    if (!t)
        return 0;
    *out = strtod(t, &end);
    return end != t && (*end == 0 || *end == ' ');
}
static void load(void)
{
    nr = 0;
    int inside = 0;
    const char *f = getenv("FAKE_GPU_SCENARIO");
    FILE *h = f ? fopen(f, "r") : NULL;
    static char b[8192];
    while (h && nr < 512 && fgets(b, sizeof b, h)) {
        b[strcspn(b, "\n")] = 0;
        if (b[0] == '#' || !b[0] || !strncmp(b, "hide ", 5))
            continue;
        char *arrow = strstr(b, " -> "), *sp = strchr(b, ' ');
        if (!arrow) {
            block_line(b, &inside);
            continue;
        }
        if (!sp || sp >= arrow)
            continue;
        struct rule *r = &R[nr++];
        memset(r, 0, sizeof *r);
        r->dev = b[0] == '*' ? -1 : (int)atol(b);
        if (r->dev + 1 > ndev)
            ndev = r->dev + 1;
        char c[96];
        snprintf(c, sizeof c, "%.*s", (int)(arrow - sp - 1), sp + 1);
        char *at = strrchr(c, '@');
        if (at) {
            r->nth = atol(at + 1);
            *at = 0;
        }
        char *co = strchr(c, ':');
        if (co) {
            snprintf(r->arg, sizeof r->arg, "%s", co + 1);
            *co = 0;
        }
        snprintf(r->call, sizeof r->call, "%s", c);
        char *p = arrow + 4;
        if (!strncmp(p, "sleep_ms=", 9)) {
            r->sleep_ms = (int)atol(p + 9);
            p = strchr(p, ' ');
            if (!p)
                continue;
            p++;
        }
        if (!strncmp(p, "hang", 4))
            r->hang = 1;
        else
            r->ret = (int)strtol(p, &p, 10);
        while (*p == ' ')
            p++;
        snprintf(r->rest, sizeof r->rest, "%s", p);
    }
    if (h)
        fclose(h);
}
static int callmatch(const char *pat, const char *c)
{
    size_t n = strlen(pat);
    if (n && pat[n - 1] == '*')
        return !strncmp(pat, c, n - 1);
    return !strcmp(pat, c);
}
static int argmatch(const char *pat, long long a, int islast)
{
    if (!*pat)
        return 1;
    if (!strncmp(pat, "last>=", 6))
        return islast && a >= atoll(pat + 6);
    if (!strncmp(pat, "last=", 5))
        return islast && a == atoll(pat + 5);
    return !islast && a == atoll(pat);
}
static struct rule *find(const char *call, int dev, long long arg, int islast)
{
    pthread_mutex_lock(&mu);
    if (nr < 0)
        load();
    long n = 0;
    int i;
    for (i = 0; i < nk; i++)
        if (K[i].dev == dev && !strcmp(K[i].call, call))
            break;
    if (i == nk && nk < 2048) {
        snprintf(K[nk].call, sizeof K[nk].call, "%s", call);
        K[nk].dev = dev;
        nk++;
    }
    if (i < 2048)
        n = ++K[i].n;
    const char *lg = getenv("FAKE_NVML_LOG");
    if (lg) {
        FILE *h = fopen(lg, "a");
        if (h) {
            fprintf(h, "%d %s %lld #%ld\n", dev, call, arg, n);
            fclose(h);
        }
    }
    struct rule *hit = NULL;
    for (i = 0; i < nr && !hit; i++) {
        struct rule *r = &R[i];
        if (r->dev != -1 && r->dev != dev)
            continue;
        if (r->dev == -1 && dev >= 0 && !strcmp(r->call, "*"))
            continue;
        if (!callmatch(r->call, call) || !argmatch(r->arg, arg, islast))
            continue;
        if (r->dev == dev && !strcmp(r->call, "*") &&
            (strstr(call, "GetHandleBy") || strstr(call, "GetIndex")))
            continue;
        if (r->nth && r->nth != n)
            continue;
        hit = r;
    }
    pthread_mutex_unlock(&mu);
    if (hit && hit->sleep_ms) {
        struct timespec t = {hit->sleep_ms / 1000, hit->sleep_ms % 1000 * 1000000L};
        nanosleep(&t, NULL);
    }
    if (hit && hit->hang)
        for (;;)
            pause();
    return hit;
}
static int kv(const char *s, const char *k, u64 *out)
{
    size_t n = strlen(k);
    for (const char *p = s; p && *p; p = strpbrk(p, " ,;"), p = p ? p + 1 : NULL)
        if (!strncmp(p, k, n) && p[n] == '=') {
            *out = strtoull(p + n + 1, NULL, 0);
            return 1;
        }
    return 0;
}
static u64 val(struct rule *r, const char *k)
{
    u64 v;
    if (kv(r->rest, k, &v))
        return v;
    const char *e = strrchr(r->rest, '=');
    if (e && !strpbrk(r->rest, " ,;"))
        return strtoull(e + 1, NULL, 0);
    return strtoull(r->rest, NULL, 0);
}
static int DEV(dev_t_ d)
{
    unsigned long v = (unsigned long)d;
    return v >= 0x1000 && v < 0x2000 ? (int)(v - 0x1000)
           : v >= 0x10000            ? (int)((v - 0x10000) >> 8)
                                     : -2;
}
#define BAD(d)                                                                                     \
    if (DEV(d) == -2)                                                                              \
    return 2
static int text(struct rule *r, const char *dflt, char *b, u32 len)
{
    const char *s = r ? r->rest : dflt;
    if (r && r->ret)
        return r->ret;
    memset(b, 0, len);
    if (!strncmp(s, "busId=", 6))
        s += 6;
    if (!strncmp(s, "hex:", 4)) {
        s += 4;
        for (u32 i = 0; i + 1 < len && s[0] && s[1]; i++, s += 2) {
            u32 x;
            sscanf(s, "%2x", &x);
            b[i] = (char)x;
        }
    } else
        snprintf(b, len, "%s", s);
    return 0;
}
#define INIT(name)                                                                                 \
    int name(void)                                                                                 \
    {                                                                                              \
        struct rule *r = find("nvmlInit_v2", -1, 0, 0);                                            \
        return r ? r->ret : 0;                                                                     \
    }
INIT(nvmlInit_v2)
INIT(nvmlInit)
int nvmlInitWithFlags(u32 f)
{
    (void)f;
    return nvmlInit_v2();
}
int nvmlShutdown(void)
{
    struct rule *r = find("nvmlShutdown", -1, 0, 0);
    return r ? r->ret : 0;
}
const char *nvmlErrorString(int e)
{
    static const char *T[] = {"Success",
                              "Uninitialized",
                              "Invalid Argument",
                              "Not Supported",
                              "Insufficient Permissions",
                              "Already Initialized",
                              "Not Found",
                              "Insufficient Size",
                              "Insufficient External Power",
                              "Driver Not Loaded",
                              "Timeout",
                              "Interrupt Request Issue",
                              "NVML Shared Library Not Found",
                              "Function Not Found",
                              "Corrupted infoROM",
                              "GPU is lost",
                              "GPU requires reset",
                              "The operating system has blocked the request",
                              "RM has detected an NVML/RM version mismatch.",
                              "GPU is currently in use",
                              "Insufficient Memory"};
    return e >= 0 && e < (int)(sizeof T / sizeof *T) ? T[e] : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char *b, u32 n)
{
    return text(find("nvmlSystemGetDriverVersion", -1, 0, 0), "550.54.15", b, n);
}
int nvmlSystemGetNVMLVersion(char *b, u32 n)
{
    return text(find("nvmlSystemGetNVMLVersion", -1, 0, 0), "12.550.54.15", b, n);
}
int nvmlSystemGetCudaDriverVersion_v2(int *v)
{
    *v = 12040;
    return 0;
}
int nvmlSystemGetCudaDriverVersion(int *v)
{
    *v = 12040;
    return 0;
}
int nvmlSystemGetProcessName(u32 pid, char *b, u32 n)
{
    struct rule *r = find("nvmlSystemGetProcessName", -1, pid, 0);
    if (!r)
        return 6;
    return text(r, "", b, n);
}
int nvmlDeviceGetCount_v2(u32 *n)
{
    struct rule *r = find("nvmlDeviceGetCount_v2", -1, 0, 0);
    if (r && r->ret)
        return r->ret;
    *n = r ? (u32)val(r, "count") : (u32)ndev;
    return 0;
}
int nvmlDeviceGetCount(u32 *n)
{
    return nvmlDeviceGetCount_v2(n);
}
int nvmlDeviceGetHandleByIndex_v2(u32 i, dev_t_ *d)
{
    struct rule *r = find("nvmlDeviceGetHandleByIndex_v2", (int)i, i, 0);
    if (r && r->ret)
        return r->ret;
    *d = (dev_t_)(unsigned long)(0x1000 + i);
    return 0;
}
int nvmlDeviceGetHandleByIndex(u32 i, dev_t_ *d)
{
    return nvmlDeviceGetHandleByIndex_v2(i, d);
}
int nvmlDeviceGetIndex(dev_t_ d, u32 *i)
{
    BAD(d);
    *i = (u32)DEV(d);
    return 0;
}
int nvmlDeviceGetMinorNumber(dev_t_ d, u32 *i)
{
    BAD(d);
    *i = (u32)DEV(d);
    return 0;
}
int nvmlDeviceGetName(dev_t_ d, char *b, u32 n)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetName", DEV(d), 0, 0);
    const char *t = block_text(DEV(d), "name");
    return text(r,
                t && (unsigned long)d < 0x10000 ? t
                : (unsigned long)d >= 0x10000   ? "NVIDIA Fake GPU MIG 1g.10gb"
                                                : "NVIDIA Fake GPU",
                b, n);
}
int nvmlDeviceGetUUID(dev_t_ d, char *b, u32 n)
{
    BAD(d);
    char u[64];
    unsigned long v = (unsigned long)d;
    if (v >= 0x10000)
        snprintf(u, sizeof u, "MIG-00000000-0000-4000-8000-%012lx", v);
    else
        snprintf(u, sizeof u, "GPU-00000000-0000-4000-8000-%012x", DEV(d) + 1);
    const char *t = block_text(DEV(d), "uuid");
    struct rule *r = v >= 0x10000 ? NULL : find("nvmlDeviceGetUUID", DEV(d), 0, 0);
    return text(r, t && v < 0x10000 ? t : u, b, n);
}
int nvmlDeviceGetSerial(dev_t_ d, char *b, u32 n)
{
    BAD(d);
    (void)b;
    (void)n;
    struct rule *r = find("nvmlDeviceGetSerial", DEV(d), 0, 0);
    const char *t = block_text(DEV(d), "serial");
    return r || t ? text(r, t, b, n) : 3;
}
int nvmlDeviceGetVbiosVersion(dev_t_ d, char *b, u32 n)
{
    BAD(d);
    return text(find("nvmlDeviceGetVbiosVersion", DEV(d), 0, 0), "90.00.00.00.00", b, n);
}
struct pci {
    char leg[16];
    u32 domain, bus, device, id, sub;
    char bus_id[32];
};
int nvmlDeviceGetPciInfo_v3(dev_t_ d, struct pci *p)
{
    BAD(d);
    char dflt[40];
    snprintf(dflt, sizeof dflt, "00000000:%02X:00.0", DEV(d) + 1);
    memset(p, 0, sizeof *p);
    const char *t = block_text(DEV(d), "pci.bus_id");
    int e = text(find("nvmlDeviceGetPciInfo_v3", DEV(d), 0, 0), t ? t : dflt, p->bus_id,
                 sizeof p->bus_id);
    if (e)
        return e;
    sscanf(p->bus_id, "%x:%x:%x", &p->domain, &p->bus, &p->device);
    snprintf(p->leg, sizeof p->leg, "%04X:%02X:%02X.0", p->domain & 0xffff, p->bus & 0xff,
             p->device & 0xff);
    p->id = 0x233010de;
    return 0;
}
int nvmlDeviceGetPciInfo_v2(dev_t_ d, struct pci *p)
{
    return nvmlDeviceGetPciInfo_v3(d, p);
}
struct util {
    u32 gpu, memory;
};
int nvmlDeviceGetUtilizationRates(dev_t_ d, struct util *u)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetUtilizationRates", DEV(d), 0, 0);
    double b;
    if (!r) {
        if (!block_number(DEV(d), "utilization.gpu", &b))
            return 3;
        u->gpu = (u32)(long long)b;
        u->memory = block_number(DEV(d), "utilization.memory", &b) ? (u32)b : 0;
        return 0;
    }
    if (r->ret)
        return r->ret;
    u64 v = 0;
    u->gpu = (u32)(kv(r->rest, "gpu", &v) ? v : 0);
    v = 0;
    kv(r->rest, "memory", &v);
    u->memory = (u32)v;
    return 0;
}
struct mem1 {
    u64 total, free, used;
};
struct mem2 {
    u32 version;
    u64 total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo(dev_t_ d, struct mem1 *m)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetMemoryInfo", DEV(d), 0, 0);
    double t, us;
    if (!r) {
        if (!block_number(DEV(d), "memory.total", &t) || !block_number(DEV(d), "memory.used", &us))
            return 3;
        m->total = (u64)t << 20;
        m->used = (u64)us << 20;
        m->free = m->total - m->used;
        return 0;
    }
    if (r->ret)
        return r->ret;
    m->total = m->free = m->used = 0;
    kv(r->rest, "total", &m->total);
    kv(r->rest, "free", &m->free);
    kv(r->rest, "used", &m->used);
    return 0;
}
int nvmlDeviceGetMemoryInfo_v2(dev_t_ d, struct mem2 *m)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetMemoryInfo_v2", DEV(d), 0, 0);
    double t, us, re = 0;
    if (!r) {
        if (!block_number(DEV(d), "memory.total", &t) || !block_number(DEV(d), "memory.used", &us))
            return 3;
        block_number(DEV(d), "memory.reserved", &re);
        m->total = (u64)t << 20;
        m->used = (u64)us << 20;
        m->reserved = (u64)re << 20;
        m->free = m->total - m->used - m->reserved;
        return 0;
    }
    if (r->ret)
        return r->ret;
    if (m->version != (sizeof *m | 2u << 24))
        return 25;
    m->total = m->free = m->used = m->reserved = 0;
    kv(r->rest, "total", &m->total);
    kv(r->rest, "free", &m->free);
    kv(r->rest, "used", &m->used);
    kv(r->rest, "reserved", &m->reserved);
    return 0;
}
/* What a block says to a call without a rule; scaled to NVML's unit. */
static int from_block(int dev, const char *call, long long arg, u32 *out)
{
    static const struct {
        const char *call;
        long long arg;
        const char *key;
        double scale;
    } T[] = {{"nvmlDeviceGetTemperature", 0, "temperature.gpu", 1},
             {"nvmlDeviceGetPowerUsage", -1, "power.draw", 1000},
             {"nvmlDeviceGetPowerManagementLimit", -1, "power.limit", 1000},
             {"nvmlDeviceGetEnforcedPowerLimit", -1, "enforced.power.limit", 1000},
             {"nvmlDeviceGetPowerManagementDefaultLimit", -1, "power.default_limit", 1000},
             {"nvmlDeviceGetFanSpeed", -1, "fan.speed", 1},
             {"nvmlDeviceGetClockInfo", 0, "clocks.gr", 1},
             {"nvmlDeviceGetClockInfo", 1, "clocks.sm", 1},
             {"nvmlDeviceGetClockInfo", 2, "clocks.mem", 1},
             {"nvmlDeviceGetClockInfo", 3, "clocks.video", 1},
             {"nvmlDeviceGetCurrPcieLinkGeneration", -1, "pcie.link.gen.current", 1},
             {"nvmlDeviceGetCurrPcieLinkWidth", -1, "pcie.link.width.current", 1}};
    double v;
    const char *p = block_text(dev, "pstate");
    if (!strcmp(call, "nvmlDeviceGetPerformanceState") && p && *p == 'P') {
        *out = (u32)atol(p + 1);
        return 1;
    }
    for (unsigned i = 0; i < sizeof T / sizeof *T; i++)
        if (!strcmp(T[i].call, call) && (T[i].arg < 0 || T[i].arg == arg) &&
            block_number(dev, T[i].key, &v)) {
            *out = (u32)(v * T[i].scale + 0.5);
            return 1;
        }
    return 0;
}
#define U32OUT(name, key, argdecl, argval)                                                         \
    int name(dev_t_ d, argdecl u32 *o)                                                             \
    {                                                                                              \
        BAD(d);                                                                                    \
        struct rule *r = find(#name, DEV(d), argval, 0);                                           \
        if (!r)                                                                                    \
            return from_block(DEV(d), #name, argval, o) ? 0 : 3;                                   \
        if (r->ret)                                                                                \
            return r->ret;                                                                         \
        *o = (u32)val(r, key);                                                                     \
        return 0;                                                                                  \
    }
#define NOARG
#define ONEARG u32 a,
U32OUT(nvmlDeviceGetTemperature, "temp", ONEARG, a)
U32OUT(nvmlDeviceGetTemperatureThreshold, "temp", ONEARG, a)
U32OUT(nvmlDeviceGetPowerUsage, "mW", NOARG, 0)
U32OUT(nvmlDeviceGetEnforcedPowerLimit, "mW", NOARG, 0)
U32OUT(nvmlDeviceGetPowerManagementLimit, "mW", NOARG, 0)
U32OUT(nvmlDeviceGetPowerManagementDefaultLimit, "mW", NOARG, 0)
U32OUT(nvmlDeviceGetFanSpeed, "speed", NOARG, 0)
U32OUT(nvmlDeviceGetFanSpeed_v2, "speed", ONEARG, a)
U32OUT(nvmlDeviceGetNumFans, "n", NOARG, 0)
U32OUT(nvmlDeviceGetClockInfo, "mhz", ONEARG, a)
U32OUT(nvmlDeviceGetMaxClockInfo, "mhz", ONEARG, a)
U32OUT(nvmlDeviceGetPcieThroughput, "value", ONEARG, a)
U32OUT(nvmlDeviceGetCurrPcieLinkGeneration, "gen", NOARG, 0)
U32OUT(nvmlDeviceGetMaxPcieLinkGeneration, "gen", NOARG, 0)
U32OUT(nvmlDeviceGetCurrPcieLinkWidth, "width", NOARG, 0)
U32OUT(nvmlDeviceGetMaxPcieLinkWidth, "width", NOARG, 0)
U32OUT(nvmlDeviceGetPcieReplayCounter, "n", NOARG, 0)
U32OUT(nvmlDeviceGetPerformanceState, "p", NOARG, 0)
U32OUT(nvmlDeviceGetPersistenceMode, "mode", NOARG, 0)
U32OUT(nvmlDeviceGetComputeMode, "mode", NOARG, 0)
U32OUT(nvmlDeviceGetArchitecture, "arch", NOARG, 0)
U32OUT(nvmlDeviceGetBrand, "brand", NOARG, 0)
U32OUT(nvmlDeviceGetNumGpuCores, "n", NOARG, 0)
U32OUT(nvmlDeviceGetMemoryBusWidth, "n", NOARG, 0)
U32OUT(nvmlDeviceGetNvLinkState, "state", ONEARG, a)
U32OUT(nvmlDeviceGetNvLinkVersion, "version", ONEARG, a)
U32OUT(nvmlDeviceGetMaxMigDeviceCount, "count", NOARG, 0)
U32OUT(nvmlDeviceGetGpuInstanceId, "id", NOARG, 0)
U32OUT(nvmlDeviceGetComputeInstanceId, "id", NOARG, 0)
int nvmlDeviceGetNvLinkCapability(dev_t_ d, u32 link, u32 cap, u32 *o)
{
    (void)cap;
    BAD(d);
    struct rule *r = find("nvmlDeviceGetNvLinkCapability", DEV(d), link, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *o = (u32)val(r, "cap");
    return 0;
}
int nvmlDeviceGetEncoderUtilization(dev_t_ d, u32 *u, u32 *p)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetEncoderUtilization", DEV(d), 0, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *u = (u32)val(r, "util");
    *p = 167000;
    return 0;
}
int nvmlDeviceGetDecoderUtilization(dev_t_ d, u32 *u, u32 *p)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetDecoderUtilization", DEV(d), 0, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *u = (u32)val(r, "util");
    *p = 167000;
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(dev_t_ d, u64 *e)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetTotalEnergyConsumption", DEV(d), 0, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *e = val(r, "mJ");
    return 0;
}
int nvmlDeviceGetMigMode(dev_t_ d, u32 *c, u32 *p)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetMigMode", DEV(d), 0, 0);
    const char *t = block_text(DEV(d), "mig.mode.current");
    if (!r && t) {
        *c = *p = !strcmp(t, "Enabled");
        return 0;
    }
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    u64 v = 0;
    kv(r->rest, "current", &v);
    *c = (u32)v;
    v = 0;
    kv(r->rest, "pending", &v);
    *p = (u32)v;
    return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(dev_t_ d, u32 i, dev_t_ *o)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetMigDeviceHandleByIndex", DEV(d), i, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *o = (dev_t_)(unsigned long)(0x10000 + (DEV(d) << 8) + (int)i);
    return 0;
}
int nvmlDeviceIsMigDeviceHandle(dev_t_ d, u32 *y)
{
    BAD(d);
    *y = (unsigned long)d >= 0x10000;
    return 0;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(dev_t_ d, dev_t_ *o)
{
    BAD(d);
    if ((unsigned long)d < 0x10000)
        return 2;
    *o = (dev_t_)(unsigned long)(0x1000 + DEV(d));
    return 0;
}
static int procs(const char *name, dev_t_ d, u32 *n, char *out, size_t elem)
{
    BAD(d);
    struct rule *r = find(name, DEV(d), 0, 0);
    if (!r) {
        *n = 0;
        return 0;
    }
    u64 v;
    if (r->ret) {
        if (kv(r->rest, "count", &v))
            *n = (u32)v;
        return r->ret;
    }
    for (int i = 0; i < nr; i++)
        if (!strcmp(R[i].call, "_elem") && elem == 24)
            elem = (size_t)val(&R[i], "size");
    u32 need = 0, cap = *n;
    for (const char *p = r->rest; *p; need++) {
        const char *q = strchr(p, ';');
        if (!q) {
            need++;
            break;
        }
        p = q + 1;
    }
    *n = need;
    if (cap < need || (need && !out))
        return 7;
    const char *p = r->rest;
    for (u32 i = 0; i < need; i++) {
        char one[256];
        const char *q = strchr(p, ';');
        size_t len = q ? (size_t)(q - p) : strlen(p);
        snprintf(one, sizeof one, "%.*s", (int)len, p);
        p = q ? q + 1 : p;
        u64 pid = 0, used = 0, gi = 0xffffffff, ci = 0xffffffff;
        kv(one, "pid", &pid);
        kv(one, "used", &used);
        kv(one, "gi", &gi);
        kv(one, "ci", &ci);
        char *o = out + i * elem;
        memset(o, 0, elem);
        u32 a = (u32)pid;
        memcpy(o, &a, 4);
        memcpy(o + 8, &used, 8);
        if (elem >= 24) {
            a = (u32)gi;
            memcpy(o + 16, &a, 4);
            a = (u32)ci;
            memcpy(o + 20, &a, 4);
        }
    }
    return 0;
}
#define PROC(n)                                                                                    \
    int n(dev_t_ d, u32 *c, void *o)                                                               \
    {                                                                                              \
        return procs(#n, d, c, o, 16);                                                             \
    }                                                                                              \
    int n##_v2(dev_t_ d, u32 *c, void *o)                                                          \
    {                                                                                              \
        return procs(#n "_v2", d, c, o, 24);                                                       \
    }                                                                                              \
    int n##_v3(dev_t_ d, u32 *c, void *o)                                                          \
    {                                                                                              \
        return procs(#n "_v3", d, c, o, 24);                                                       \
    }
PROC(nvmlDeviceGetComputeRunningProcesses)
PROC(nvmlDeviceGetGraphicsRunningProcesses)
PROC(nvmlDeviceGetMPSComputeRunningProcesses)
struct pus {
    u32 pid;
    u64 ts;
    u32 sm, mem, enc, dec;
};
int nvmlDeviceGetProcessUtilization(dev_t_ d, struct pus *o, u32 *n, u64 last)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetProcessUtilization", DEV(d), (long long)last, 1);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    static struct pus S[512];
    u32 k = 0;
    const char *p = r->rest;
    if (!strncmp(p, "n=", 2)) {
        p = strchr(p, ' ');
        p = p ? p + 1 : "";
    }
    while (*p && k < 512) {
        char one[256];
        const char *q = strchr(p, ';');
        size_t len = q ? (size_t)(q - p) : strlen(p);
        snprintf(one, sizeof one, "%.*s", (int)len, p);
        p = q ? q + 1 : p + len;
        long rep = 1;
        char *s = one;
        if (!strncmp(s, "repeat", 6)) {
            rep = strtol(s + 6, &s, 10);
            if (*s == ':')
                s++;
        }
        u64 pid = 0, ts = 0, sm = 0, me = 0;
        kv(s, "pid", &pid);
        kv(s, "ts", &ts);
        kv(s, "sm", &sm);
        kv(s, "mem", &me);
        for (; rep > 0 && k < 512; rep--)
            S[k++] = (struct pus){(u32)pid, ts, (u32)sm, (u32)me, 0, 0};
    }
    u32 cap = *n;
    *n = k;
    if (!o || cap < k)
        return 7;
    memcpy(o, S, k * sizeof *o);
    return 0;
}
int nvmlDeviceGetSamples(dev_t_ d, u32 type, u64 last, u32 *vt, u32 *n, void *o)
{
    (void)type;
    (void)vt;
    (void)o;
    BAD(d);
    struct rule *r = find("nvmlDeviceGetSamples", DEV(d), (long long)last, 1);
    if (!r)
        return 3;
    if (!r->ret)
        *n = 0;
    return r->ret;
}
#define U64OUT(name, key)                                                                          \
    int name(dev_t_ d, u64 *o)                                                                     \
    {                                                                                              \
        BAD(d);                                                                                    \
        struct rule *r = find(#name, DEV(d), 0, 0);                                                \
        if (!r)                                                                                    \
            return 3;                                                                              \
        if (r->ret)                                                                                \
            return r->ret;                                                                         \
        *o = val(r, key);                                                                          \
        return 0;                                                                                  \
    }
U64OUT(nvmlDeviceGetCurrentClocksThrottleReasons, "reasons")
U64OUT(nvmlDeviceGetCurrentClocksEventReasons, "reasons")
U32OUT(nvmlDeviceGetApplicationsClock, "mhz", ONEARG, a)
U32OUT(nvmlDeviceGetDefaultApplicationsClock, "mhz", ONEARG, a)
U32OUT(nvmlDeviceGetDisplayActive, "active", NOARG, 0)
U32OUT(nvmlDeviceGetMultiGpuBoard, "multi", NOARG, 0)
U32OUT(nvmlDeviceGetRetiredPagesPendingStatus, "pending", NOARG, 0)
/* Two figures "a=… b=…" behind the rule's names. */
static int two(const char *name, dev_t_ d, const char *ka, const char *kb, u32 *a, u32 *b)
{
    BAD(d);
    struct rule *r = find(name, DEV(d), 0, 0);
    u64 v = 0;
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *a = kv(r->rest, ka, &v) ? (u32)v : 0;
    v = 0;
    *b = kv(r->rest, kb, &v) ? (u32)v : 0;
    return 0;
}
int nvmlDeviceGetJpgUtilization(dev_t_ d, u32 *u, u32 *p)
{
    return two("nvmlDeviceGetJpgUtilization", d, "util", "period", u, p);
}
int nvmlDeviceGetOfaUtilization(dev_t_ d, u32 *u, u32 *p)
{
    return two("nvmlDeviceGetOfaUtilization", d, "util", "period", u, p);
}
int nvmlDeviceGetEccMode(dev_t_ d, u32 *c, u32 *p)
{
    return two("nvmlDeviceGetEccMode", d, "current", "pending", c, p);
}
int nvmlDeviceGetPowerManagementLimitConstraints(dev_t_ d, u32 *a, u32 *b)
{
    return two("nvmlDeviceGetPowerManagementLimitConstraints", d, "min", "max", a, b);
}
int nvmlDeviceGetCudaComputeCapability(dev_t_ d, int *a, int *b)
{
    u32 x = 0, y = 0;
    int e = two("nvmlDeviceGetCudaComputeCapability", d, "major", "minor", &x, &y);
    if (!e) {
        *a = (int)x;
        *b = (int)y;
    }
    return e;
}
int nvmlDeviceGetTotalEccErrors(dev_t_ d, u32 type, u32 scope, u64 *o)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetTotalEccErrors", DEV(d), type * 2 + scope, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *o = val(r, "n");
    return 0;
}
int nvmlDeviceGetEncoderStats(dev_t_ d, u32 *s, u32 *f, u32 *l)
{
    u64 v = 0;
    struct rule *r;
    int e = two("nvmlDeviceGetEncoderStats", d, "sessions", "fps", s, f);
    if (e)
        return e;
    r = find("nvmlDeviceGetEncoderStats", DEV(d), 0, 0);
    *l = r && kv(r->rest, "latency", &v) ? (u32)v : 0;
    return 0;
}
int nvmlDeviceGetBAR1MemoryInfo(dev_t_ d, struct mem1 *m)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetBAR1MemoryInfo", DEV(d), 0, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    m->total = m->free = m->used = 0;
    kv(r->rest, "total", &m->total);
    kv(r->rest, "free", &m->free);
    kv(r->rest, "used", &m->used);
    return 0;
}
int nvmlDeviceGetRemappedRows(dev_t_ d, u32 *c, u32 *u, u32 *p, u32 *f)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetRemappedRows", DEV(d), 0, 0);
    u64 v;
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    v = 0;
    kv(r->rest, "cor", &v);
    *c = (u32)v;
    v = 0;
    kv(r->rest, "unc", &v);
    *u = (u32)v;
    v = 0;
    kv(r->rest, "pending", &v);
    *p = (u32)v;
    v = 0;
    kv(r->rest, "failed", &v);
    *f = (u32)v;
    return 0;
}
int nvmlDeviceGetRetiredPages(dev_t_ d, u32 cause, u32 *n, u64 *o)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetRetiredPages", DEV(d), cause, 0);
    u32 cap = *n;
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *n = (u32)val(r, "n");
    if (cap < *n || (*n && !o))
        return 7;
    return 0;
}
struct viol {
    u64 ref, ns;
};
int nvmlDeviceGetViolationStatus(dev_t_ d, u32 policy, struct viol *o)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetViolationStatus", DEV(d), policy, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    o->ref = 0;
    o->ns = val(r, "ns");
    return 0;
}
int nvmlDeviceGetSupportedMemoryClocks(dev_t_ d, u32 *n, u32 *o)
{
    BAD(d);
    struct rule *r = find("nvmlDeviceGetSupportedMemoryClocks", DEV(d), 0, 0);
    u32 k = 0, cap = *n;
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    for (const char *p = r->rest; p && *p; p = strchr(p, ';'), p = p ? p + 1 : NULL) {
        if (k < cap)
            o[k] = (u32)strtoul(p, NULL, 10);
        k++;
    }
    *n = k;
    return k > cap ? 7 : 0;
}
int nvmlDeviceGetNvLinkErrorCounter(dev_t_ d, u32 link, u32 c, u64 *o)
{
    BAD(d);
    (void)c;
    struct rule *r = find("nvmlDeviceGetNvLinkErrorCounter", DEV(d), link, 0);
    if (!r)
        return 3;
    if (r->ret)
        return r->ret;
    *o = val(r, "n");
    return 0;
}
struct field {
    u32 id, scope;
    long long ts, lat;
    u32 type;
    int ret;
    union {
        double d;
        u32 u;
        u64 ull;
    } v;
};
int nvmlDeviceGetFieldValues(dev_t_ d, int n, struct field *f)
{
    BAD(d);
    for (int i = 0; i < n; i++) {
        struct rule *r = find("nvmlDeviceGetFieldValues", DEV(d), f[i].id, 0);
        double b;
        u64 t;
        const char *key = f[i].id == 82    ? "temperature.memory"
                          : f[i].id == 185 ? "power.draw.average"
                          : f[i].id == 186 ? "power.draw.instant"
                                           : "";
        f[i].ret = r ? r->ret : 3;
        f[i].type = 1;
        if (r && kv(r->rest, "type", &t))
            f[i].type = (u32)t;
        if (r && !r->ret) {
            if (f[i].type == 0)
                f[i].v.d = (double)val(r, "v");
            else
                f[i].v.ull = val(r, "v");
        } else if (!r && block_number(DEV(d), key, &b)) {
            f[i].ret = 0;
            f[i].v.ull = 0;
            f[i].v.u = (u32)(b * (f[i].id == 82 ? 1 : 1000) + 0.5);
        }
    }
    return 0;
}
/* Events: "* nvmlEventSetWait_v2@N -> 0 dev=D xid=X"; without a rule nothing happened. */
int nvmlEventSetCreate(void **s)
{
    struct rule *r = find("nvmlEventSetCreate", -1, 0, 0);
    *s = &mu;
    return r ? r->ret : 0;
}
int nvmlEventSetFree(void *s)
{
    (void)s;
    return 0;
}
int nvmlDeviceGetSupportedEventTypes(dev_t_ d, u64 *o)
{
    BAD(d);
    *o = 8;
    return 0;
}
int nvmlDeviceRegisterEvents(dev_t_ d, u64 t, void *s)
{
    BAD(d);
    (void)t;
    (void)s;
    return 0;
}
struct event {
    dev_t_ dev;
    u64 type, data;
    u32 gi, ci;
};
int nvmlEventSetWait_v2(void *s, struct event *e, u32 ms)
{
    (void)s;
    (void)ms;
    struct rule *r = find("nvmlEventSetWait_v2", -1, 0, 0);
    u64 v = 0;
    if (!r)
        return 10;
    if (r->ret)
        return r->ret;
    memset(e, 0, sizeof *e);
    kv(r->rest, "dev", &v);
    e->dev = (dev_t_)(unsigned long)(0x1000 + v);
    e->type = 8;
    v = 0;
    kv(r->rest, "xid", &v);
    e->data = v;
    return 0;
}
