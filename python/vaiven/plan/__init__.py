# SPDX-License-Identifier: BSD-3-Clause
"""What to measure: the schema of plans, size words, the random order. Pure: no clock, no process, no shared state."""
