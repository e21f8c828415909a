/** A completed order, as the contract has it. */
export const ORDER = { id: 'so_1', status: 'completed', esim_id: 'e_1' };
export const PACKAGE = { id: 7, name: 'Europe 1 GB', price_for_reseller: '4.50', currency: 'EUR' };
export const TRANSACTION = {
  id: 1,
  type: 'debit',
  amount: '4.50',
  currency: 'EUR',
  reason: 'order',
  created_at: '2026-01-01T10:00:00Z',
};
