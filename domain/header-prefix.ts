/** The specification writes the brand in header names as the neutral word *Service*; `SERVICE_HEADER_PREFIX` sets the real one. */
export const DEFAULT_HEADER_PREFIX = 'X-Service';

/** Part of a header name: fewer characters than HTTP allows (RFC 9110, token), so that it is safe in logs and in texts for people. */
export const HEADER_PREFIX = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;
