# SPDX-License-Identifier: BSD-3-Clause
"""What a message costs on an Ethernet cluster, which layer is to blame, and two cures."""

__version__ = "0.1.0"
