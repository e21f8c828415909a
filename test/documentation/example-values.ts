/** A plan of the simulator. */
export const VPN_PLAN = 301;
export const WHY = 'The customer no longer wants it.';
export const CHEAP = { amount: '0.01', currency: 'USD' };
export const ENOUGH = { amount: '15.00', currency: 'USD' };
