# SPDX-License-Identifier: BSD-3-Clause
"""From the text of a plan to a finished run."""
