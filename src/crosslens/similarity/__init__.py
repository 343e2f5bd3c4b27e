"""Similarity of representations: measures, baselines, and correlation with the transfer gap."""
