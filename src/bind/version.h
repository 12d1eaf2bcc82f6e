#pragma once
// The version of accel, equal to `version` in pyproject.toml.
#define ACCEL_VERSION "0.1.0"
