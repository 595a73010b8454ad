# SPDX-License-Identifier: BSD-3-Clause
"""What a run says, as typed values: below whoever shows it, above what stores and computes it."""
