/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* nvidia-smi's answers, parsed. Everything here works on bytes and touches nothing outside, so
 * that it is tested and fuzzed without a card. The tokens drivers use for "no value" differ between
 * versions; all of them become unknown, and those that say something about the GPU set its state.
 */
#ifndef SOURCE_NVIDIA_SMI_PARSE_H
#define SOURCE_NVIDIA_SMI_PARSE_H

#include "model/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

#define SMI_FIELDS_MAX 96

/* How the text of a field becomes a value. */
enum smi_kind {
    SMI_INDEX,
    SMI_UUID,
    SMI_NAME,
    SMI_DRIVER,
    SMI_WORD,   /* a gpu_text */
    SMI_NUMBER, /* times scale */
    SMI_SWITCH, /* Enabled, Active, Yes, On, Pending = 1; Disabled, Not Active, No, Off = 0 */
    SMI_PSTATE, /* P0 … P15 */
    SMI_COMPUTE_MODE,
};

struct smi_field {
    const char *name;
    const char *alias; /* the name in other driver versions, or NULL */
    enum smi_kind kind;
    int id; /* metric_id, or gpu_text_id for SMI_WORD */
    double scale;
};

extern const struct smi_field smi_fields[];
extern const size_t smi_field_count; /* <= SMI_FIELDS_MAX */

/* A query that was asked: rows of smi_fields in the order of the columns. */
struct smi_query {
    size_t column[SMI_FIELDS_MAX];
    size_t count;
};

/* What an answer said beside its rows. */
struct smi_answer {
    size_t rows;
    bool has_no_devices; /* "No devices were found" */
    char refused[96];    /* the field the driver does not know, "" = none */
    char message[200];   /* the first line that is neither a row nor a warning */
};

/* Adds the GPUs of a --query-gpu answer (csv,noheader,nounits) to the snapshot. A GPU name may hold
 * commas: it must be the only such column. `is_whole` false: the program was stopped, so a last
 * line without its end is left out. */
void smi_parse_gpus(const char *text, size_t length, const struct smi_query *query, bool is_whole,
                    struct snapshot *snapshot, struct smi_answer *answer);

/* Adds the processes of --query-compute-apps=gpu_uuid,pid,process_name,used_memory. */
void smi_parse_processes(const char *text, size_t length, bool is_whole, struct snapshot *snapshot);

/* Adds the GPUs of the XML form (-q -x) of any driver version: identity, utilization, memory,
 * temperature and power. Returns how many. */
size_t smi_parse_xml(const char *text, size_t length, struct snapshot *snapshot);

/* A number with or without its unit; false for every way of saying "no value". */
bool smi_number(const char *text, size_t length, double *out);

#endif
