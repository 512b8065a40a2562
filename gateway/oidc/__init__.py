"""People and services that an OpenID Connect provider vouches for."""
