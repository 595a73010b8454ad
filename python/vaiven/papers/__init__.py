# SPDX-License-Identifier: BSD-3-Clause
"""Published results as inequalities, and what a run says of each: claims, their evaluator, verdicts."""
