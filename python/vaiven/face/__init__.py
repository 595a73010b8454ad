# SPDX-License-Identifier: BSD-3-Clause
"""What `import vaiven` gives: each name is loaded when it is used (vaiven.__getattr__)."""
