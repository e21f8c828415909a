/** The business of the foreign service: what it sold, and the ledger of its wallet. Nothing of it leaves the process. */
import { createHash } from 'node:crypto';
import type { Behaviour } from '#test/foreign/service/behaviour.ts';
import type { Style } from '#test/foreign/service/style.ts';

export const ACCOUNT = { email: 'shop@foreign.example', password: 'correct horse battery' } as const;

export interface Package {
  readonly id: number;
  readonly name: string;
  readonly cents: number;
}

export type SaleKind = 'order' | 'topup' | 'subscription';

export interface Sale {
  readonly kind: SaleKind;
  readonly id: string;
  /** Our reference; a top-up has none. */
  readonly reference: string | null;
  /** The Idempotency-Key of its request. */
  readonly key: string;
  readonly product: Package;
  readonly at: number;
  status: 'processing' | 'completed' | 'failed';
  /** The eSIM of an order or a top-up. */
  esimId: string | null;
  completedAt: number | undefined;
  cancelledAt: number | undefined;
}

export interface Esim {
  readonly id: string;
  readonly orderId: string;
  readonly iccid: string;
  readonly code: string;
  status: 'available' | 'cancelled';
}

export interface Refund {
  readonly id: string;
  readonly esimId: string;
  readonly orderId: string;
  readonly cents: number;
  readonly at: number;
  readonly status: 'processing' | 'completed';
}

export interface Row {
  readonly id: string;
  readonly type: 'debit' | 'credit';
  readonly cents: number;
  readonly reason: string;
  readonly at: number;
  readonly sale?: Sale;
  readonly refund?: Refund;
  readonly pending?: true;
}

const ID_PREFIXES = {
  order: 'ord',
  topup: 'top',
  subscription: 'sub',
  esim: 'esim',
  refund: 'ref',
  row: 'txn',
} as const;
type IdKind = keyof typeof ID_PREFIXES;

export class Books {
  readonly packages: readonly Package[];
  readonly plans: readonly Package[];
  readonly sales: Sale[] = [];
  readonly esims: Esim[] = [];
  readonly refunds: Refund[] = [];
  readonly rows: Row[] = [];
  readonly #style: Style;
  readonly #now: () => number;
  #ids = 0;

  /** @param now epoch milliseconds, by the clock of the service. */
  constructor(style: Style, now: () => number) {
    this.#style = style;
    this.#now = now;
    this.packages = Array.from({ length: 12 }, (_, index) => {
      return { id: 700 + index, name: `Iberia ${index + 1} GB`, cents: 320 + 115 * index };
    });
    this.plans = [
      { id: 41, name: 'Tunnel monthly', cents: 275 },
      { id: 42, name: 'Tunnel yearly', cents: 2_490 },
    ];
    this.rows.push({ id: this.newId('row'), type: 'credit', cents: 95_000, reason: 'deposit', at: now() - 9 * DAY_MS });
  }

  /** The sum of the rows in cents. */
  get balance(): number {
    return this.rows.reduce((sum, row) => sum + (row.pending ? 0 : row.type === 'credit' ? row.cents : -row.cents), 0);
  }

  newId(kind: IdKind): string {
    this.#ids += 1;
    const digest = createHash('sha256').update(`${kind} ${this.#ids}`).digest('hex');
    switch (this.#style.ids) {
      case 'number':
        return String(48_000 + this.#ids);
      case 'long':
        // Neighbours that a double cannot tell apart.
        return String(7_411_008_203_775_300_001n + BigInt(this.#ids));
      case 'uuid':
        return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
      case 'prefixed':
        return `${ID_PREFIXES[kind]}_${digest.slice(0, 14)}`;
    }
  }

  /** Sells something. Its debit is booked by {@link debit}. */
  sell(sale: Pick<Sale, 'kind' | 'reference' | 'key' | 'product' | 'esimId'>): Sale {
    const sold: Sale = {
      ...sale,
      id: this.newId(sale.kind),
      at: this.#now(),
      status: 'processing',
      completedAt: undefined,
      cancelledAt: undefined,
    };
    this.sales.push(sold);
    return sold;
  }

  complete(sale: Sale): void {
    if (sale.status !== 'processing') return;
    sale.status = 'completed';
    sale.completedAt = this.#now();
    if (sale.kind !== 'order') return;
    const id = this.newId('esim');
    const number = String(this.esims.length).padStart(6, '0');
    this.esims.push({
      id,
      orderId: sale.id,
      iccid: `8934071100${number}${'4'.repeat(3)}`,
      code: `LPA:1$rsp.foreign.example$F-${number}`,
      status: 'available',
    });
    sale.esimId = id;
  }

  debit(sale: Sale): void {
    const { kind, product } = sale;
    const reason = kind === 'subscription' ? 'vpn' : kind;
    this.rows.push({ id: this.newId('row'), type: 'debit', cents: product.cents, reason, at: this.#now(), sale });
  }

  credit(sale: Sale): void {
    const { cents } = sale.product;
    this.rows.push({ id: this.newId('row'), type: 'credit', cents, reason: 'refund', at: this.#now(), sale });
  }

  /** Cancels an eSIM and gives its price back. */
  cancel(esim: Esim, how: Behaviour['refund']): Refund | undefined {
    const sale = this.sales.find(({ id }) => id === esim.orderId);
    if (sale === undefined) return undefined;
    esim.status = 'cancelled';
    const cents = how === 'zero' ? 0 : how === 'smaller' ? 100 : sale.product.cents;
    const at = this.#now();
    const refund: Refund = {
      id: this.newId('refund'),
      esimId: esim.id,
      orderId: sale.id,
      cents,
      at,
      status: 'completed',
    };
    this.refunds.push(refund);
    const row: Row = { id: this.newId('row'), type: 'credit', cents, reason: 'refund', at, sale, refund };
    this.rows.push(how === 'pending' ? { ...row, pending: true } : row);
    return refund;
  }

  /** Purchases that were made by other means, before anybody looked. */
  addEarlierPurchases(): void {
    const [esimPackage] = this.packages;
    const [plan] = this.plans;
    if (esimPackage === undefined || plan === undefined) return;
    const sold = (kind: SaleKind, product: Package, reference: string | null, esimId: string | null) => {
      const sale = this.sell({ kind, reference, key: `earlier-${kind}`, product, esimId });
      this.debit(sale);
      this.complete(sale);
      return sale;
    };
    const order = sold('order', esimPackage, 'by-hand-1', null);
    sold('topup', esimPackage, null, order.esimId);
    sold('subscription', plan, 'by-hand-2', null);
  }
}

const DAY_MS = 24 * 3_600_000;
