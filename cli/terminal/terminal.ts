import { styleText } from 'node:util';
import { type Output, visible } from '#cli/terminal/output.ts';

export interface Step {
  update(detail: string): void;
  done(detail?: string): void;
  fail(detail?: string): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
// Between updates of a step in a log file.
const PLAIN_UPDATE_MS = 5_000;

export class Terminal {
  readonly #output: Output;
  readonly #now: () => number;
  readonly #active: ActiveStep[] = [];
  #drawn = 0;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output, now: () => number = Date.now) {
    this.#output = output;
    this.#now = now;
  }

  get interactive(): boolean {
    return this.#output.isTTY === true;
  }

  say(text = ''): void {
    this.#erase();
    this.#output.write(`${text}\n`);
    this.#draw();
  }

  bold(text: string): string {
    return this.#styled('bold', text);
  }

  dim(text: string): string {
    return this.#styled('dim', text);
  }

  step(name: string): Step {
    const active: ActiveStep = { name, detail: '', startedAt: this.#now(), shownAt: this.#now() };
    this.#active.push(active);
    if (!this.interactive) this.say(`… ${name}`);
    else this.#animate();
    return {
      update: (detail) => this.#update(active, detail),
      done: (detail = '') => this.#end(active, this.#styled('green', '✔'), detail),
      fail: (detail = '') => this.#end(active, this.#styled('red', '✘'), detail),
    };
  }

  /** `work` may end the step itself, with a detail. @param failed the detail when it throws. */
  async during<Value>(name: string, work: (step: Step) => Promise<Value>, failed = () => ''): Promise<Value> {
    const step = this.step(name);
    try {
      const result = await work(step);
      step.done();
      return result;
    } catch (error) {
      step.fail(failed());
      throw error;
    }
  }

  close(): void {
    this.#erase();
    this.#active.length = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #update(step: ActiveStep, detail: string): void {
    step.detail = visible(detail);
    if (this.interactive || this.#now() - step.shownAt < PLAIN_UPDATE_MS) return;
    step.shownAt = this.#now();
    this.say(`… ${step.name}: ${step.detail}`);
  }

  #end(step: ActiveStep, mark: string, detail: string): void {
    const index = this.#active.indexOf(step);
    if (index < 0) return;
    this.#active.splice(index, 1);
    const seconds = this.dim(`(${((this.#now() - step.startedAt) / 1_000).toFixed(1)} s)`);
    this.say([mark, step.name, visible(detail), seconds].filter(Boolean).join(' '));
    if (this.#active.length === 0) this.close();
  }

  #animate(): void {
    this.#timer ??= setInterval(() => {
      this.#frame += 1;
      this.#erase();
      this.#draw();
    }, FRAME_MS).unref();
  }

  #draw(): void {
    if (!this.interactive) return;
    const frame = FRAMES[this.#frame % FRAMES.length] ?? '';
    const columns = this.#output.columns ?? 80;
    for (const { name, detail } of this.#active) {
      // Erasing counts lines, so no line may wrap.
      this.#output.write(`${`${frame} ${name}${detail && `: ${detail}`}`.slice(0, columns - 1)}\n`);
    }
    this.#drawn = this.#active.length;
  }

  #erase(): void {
    if (this.#drawn > 0) this.#output.write(`\u001b[${this.#drawn}A\u001b[0J`);
    this.#drawn = 0;
  }

  #styled(style: 'bold' | 'dim' | 'green' | 'red', text: string): string {
    return this.interactive ? styleText(style, text, { validateStream: false }) : text;
  }
}

interface ActiveStep {
  readonly name: string;
  readonly startedAt: number;
  detail: string;
  shownAt: number;
}
