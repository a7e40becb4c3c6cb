"""Objectives: functions of the scores of one query, whose parameters the rankers choose."""
