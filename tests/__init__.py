# SPDX-License-Identifier: Apache-2.0
"""Test cases; ``tests/unit`` for models and scripts, one folder a block for benches."""
