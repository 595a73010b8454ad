# SPDX-License-Identifier: BSD-3-Clause
"""Carries a plan out: hosts and how to run something there, launches, what they print, the way through all blocks."""
