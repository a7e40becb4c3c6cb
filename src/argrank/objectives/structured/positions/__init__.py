"""The positions map (phi_dorm, ORM): documents are assigned to ranks."""
