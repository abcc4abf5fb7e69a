# SPDX-License-Identifier: Apache-2.0
"""Golden models: pure Python, no simulator, no look inside the design."""
