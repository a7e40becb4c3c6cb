"""What is optimised: functions of the scores of one query, named by what they are; rankers choose their parameters."""
