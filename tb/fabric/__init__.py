# SPDX-License-Identifier: Apache-2.0
"""Bench of the fabric: experiments, their stimulus, what is recorded and predicted."""
