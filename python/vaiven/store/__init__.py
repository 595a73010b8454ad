# SPDX-License-Identifier: BSD-3-Clause
"""Run directories: written launch by launch (record), read (query). The only code that touches them."""
