/** The two environments of the service. All data except packages and settings belongs to exactly one. */
export const ENVIRONMENTS = ['production', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
