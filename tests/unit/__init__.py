# SPDX-License-Identifier: Apache-2.0
"""Tests of models and scripts; no simulator."""
