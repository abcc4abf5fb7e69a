# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the link."""

from tb.common.coverage import Coverage

COVERAGE = Coverage("link", [])
