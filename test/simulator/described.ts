/** Validates answers and webhooks by the simulator's OpenAPI document, with an independent validator. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as z from 'zod';
import type { HttpAnswer } from '#test/support/network/http.ts';

const content = z.object({ 'application/json': z.object({ schema: z.unknown() }) });
const operation = z.object({
  operationId: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), required: z.boolean().optional() })).optional(),
  requestBody: z.object({ content }).optional(),
  responses: z.record(
    z.string(),
    z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })).optional() }),
  ),
});
export const documentShape = z.object({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.object({ post: operation })),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});
type Document = z.output<typeof documentShape>;

/** The formats of the document. An unknown format makes the validator throw. */
const FORMATS = {
  'date-time': (text: string) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  uri: (text: string) => URL.canParse(text),
};

/** A document with compiled schemas. */
export class Description {
  readonly document: Document;
  readonly #ajv = new Ajv2020({ strict: false, formats: FORMATS });
  readonly #compiled = new Map<unknown, ValidateFunction>();

  constructor(document: Document) {
    this.document = document;
    this.#ajv.addSchema({ $id: 'openapi', ...document });
  }

  /** @returns `valid`, or the errors. */
  judge(schema: unknown, value: unknown): string {
    if (schema === undefined) return 'not described';
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      const resolved: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'));
      validate = this.#ajv.compile(resolved as object);
      this.#compiled.set(schema, validate);
    }
    return validate(value) ? 'valid' : this.#ajv.errorsText(validate.errors);
  }

  /** @param path as called, without the base. @returns `valid`, or the errors of the answer. */
  judgeAnswer(method: string, path: string, answer: HttpAnswer): string {
    const response = this.#operation(method, path)?.responses[String(answer.status)];
    const type = answer.headers.get('content-type');
    if (type === null && answer.text === '' && response !== undefined && response.content === undefined) return 'valid';
    const described = response?.content?.[type ?? '']?.schema;
    const body = type?.endsWith('json') === true ? answer.body : answer.text;
    // A document does not describe addresses and methods that do not exist (in a dialect); they get an ordinary
    // refusal.
    const absent = response === undefined && (answer.status === 404 || answer.status === 405);
    return this.judge(absent ? this.document.components.schemas['Error'] : described, body);
  }

  /** @returns `valid`, or the errors of the body of a webhook. */
  judgeWebhook(event: string, body: unknown): string {
    return this.judge(this.document.webhooks[event]?.post.requestBody?.content['application/json'].schema, body);
  }

  #operation(method: string, path: string) {
    const bare = path.split('?')[0] ?? '';
    const matches = (template: string): boolean =>
      new RegExp(`^${template.replaceAll('.', '\\.').replace('{id}', '[^/]+')}$`).test(bare);
    const exact = this.document.paths[bare] ?? Object.entries(this.document.paths).find(([each]) => matches(each))?.[1];
    return exact?.[method.toLowerCase()];
  }
}
