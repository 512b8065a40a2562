"""The registration profile on the rights holder's own machine. Nothing of it is sent anywhere."""
