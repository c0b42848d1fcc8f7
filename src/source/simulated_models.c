/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/simulated_models.h"

/* clang-format off */
const struct simulated_model simulated_models[] = {
    {"B200",      "NVIDIA B200",                 "NVIDIA", "Blackwell", "10.0", 183359, 1000, 200, 140, 1965, 3996, 87, 92, 95, 18, 6, 7, false, true},
    {"H200",      "NVIDIA H200",                 "NVIDIA", "Hopper",    "9.0",  143771,  700, 200,  75, 1980, 3201, 87, 92, 95, 18, 5, 7, false, true},
    {"H100",      "NVIDIA H100 80GB HBM3",       "NVIDIA", "Hopper",    "9.0",   81559,  700, 200,  70, 1980, 2619, 87, 92, 95, 18, 5, 7, false, true},
    {"H100PCIe",  "NVIDIA H100 PCIe",            "NVIDIA", "Hopper",    "9.0",   81559,  350, 200,  50, 1755, 1593, 87, 92, 95,  0, 5, 7, false, true},
    {"A100",      "NVIDIA A100-SXM4-80GB",       "NVIDIA", "Ampere",    "8.0",   81920,  400, 100,  60, 1410, 1593, 89, 92, 95, 12, 4, 7, false, true},
    {"A100-40",   "NVIDIA A100-SXM4-40GB",       "NVIDIA", "Ampere",    "8.0",   40960,  400, 100,  50, 1410, 1215, 89, 92, 95, 12, 4, 7, false, true},
    {"A40",       "NVIDIA A40",                  "NVIDIA", "Ampere",    "8.6",   46068,  300, 100,  30, 1740, 7251, 95, 98,  0,  4, 4, 0, false, true},
    {"A10",       "NVIDIA A10",                  "NVIDIA", "Ampere",    "8.6",   23028,  150, 100,  20, 1695, 6251, 95, 98,  0,  0, 4, 0, false, true},
    {"L40S",      "NVIDIA L40S",                 "NVIDIA", "Ada Lovelace", "8.9", 46068, 350, 100,  35, 2520, 9001, 92, 95,  0,  0, 4, 0, false, true},
    {"L4",        "NVIDIA L4",                   "NVIDIA", "Ada Lovelace", "8.9", 23034,  72,  40,  17, 2040, 6251, 95, 98,  0,  0, 4, 0, false, true},
    {"T4",        "Tesla T4",                    "Tesla",  "Turing",    "7.5",   15360,   70,  60,  10, 1590, 5001, 93, 96,  0,  0, 3, 0, false, true},
    {"V100",      "Tesla V100-SXM2-32GB",        "Tesla",  "Volta",     "7.0",   32768,  300, 150,  40, 1530,  877, 87, 90, 85,  6, 3, 0, false, true},
    {"P100",      "Tesla P100-PCIE-16GB",        "Tesla",  "Pascal",    "6.0",   16384,  250, 125,  27, 1328,  715, 82, 85,  0,  0, 3, 0, false, true},
    {"RTX6000Ada", "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX", "Ada Lovelace", "8.9", 49140, 300, 100, 25, 3105, 10001, 92, 95, 0, 0, 4, 0, true, true},
    {"RTX5090",   "NVIDIA GeForce RTX 5090",     "GeForce", "Blackwell", "12.0", 32607,  575, 400,  30, 3090, 14001, 90, 95,  0, 0, 5, 0, true, false},
    {"RTX4090",   "NVIDIA GeForce RTX 4090",     "GeForce", "Ada Lovelace", "8.9", 24564, 450, 150, 22, 3105, 10501, 95, 98, 0, 0, 4, 0, true, false},
    {"RTX3090",   "NVIDIA GeForce RTX 3090",     "GeForce", "Ampere",   "8.6",   24576,  350, 100,  25, 2100, 9751, 95, 98,  0,  4, 4, 0, true, false},
    {"GB10",      "NVIDIA GB10",                 "NVIDIA", "Blackwell", "12.1",      0,  140,  80,   6, 3003,    0, 90, 95,  0,  0, 5, 0, false, false},
};
/* clang-format on */

const size_t simulated_model_count = sizeof simulated_models / sizeof simulated_models[0];
