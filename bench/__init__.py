"""Measurements. No figure is a test; quote ratios of one run."""
