/** The two environments of the service; everything but packages and settings belongs to exactly one. */
export const ENVIRONMENTS = ['production', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
