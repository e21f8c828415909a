import * as z from 'zod';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { productVersion } from '#api/openapi/version.ts';
import { apiOperations } from '#cli/api/operations.ts';

export async function apiDocument(): Promise<unknown> {
  const document: unknown = JSON.parse(JSON.stringify(openApiDocument(await apiOperations(), productVersion())));
  return document;
}

const schema = z.looseObject({ 'x-kind': z.string().optional(), type: z.unknown(), example: z.unknown().optional() });

const parameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema,
});

const reference = z.object({ $ref: z.string() });
const media = z.looseObject({ schema: z.unknown().optional(), example: z.unknown().optional() });
const response = z.looseObject({ description: z.string(), content: z.record(z.string(), media).default({}) });

const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().default(''),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  parameters: z.array(z.union([reference, parameter])).default([]),
  requestBody: z.looseObject({ required: z.boolean().optional(), content: z.record(z.string(), media) }).optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const document = z.looseObject({
  tags: z.array(z.object({ name: z.string(), description: z.string().optional() })).default([]),
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.unknown()).default({}),
    parameters: z.record(z.string(), parameter).default({}),
  }),
});

export type DescribedParameter = z.output<typeof parameter>;

/** With its references resolved. */
export interface DescribedOperation {
  readonly id: string;
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly authenticated: boolean;
  readonly parameters: readonly DescribedParameter[];
  readonly body: (Content & { readonly required: boolean }) | undefined;
  /** Successes first. */
  readonly answers: readonly (Content & { readonly status: number; readonly contentType: string })[];
}

interface Content {
  readonly schema: unknown;
  readonly example: unknown;
}

export interface DescribedApi {
  readonly tags: readonly { readonly name: string; readonly description?: string | undefined }[];
  readonly operations: readonly DescribedOperation[];
  readonly schemas: Readonly<Record<string, unknown>>;
}

/** Code that waits for the end of an answer must not call a stream. */
export function isStream({ answers }: DescribedOperation): boolean {
  return answers.some(({ contentType }) => contentType === 'text/event-stream');
}

/** @throws ZodError */
export function readDescription(input: unknown): DescribedApi {
  const { tags, paths, components } = document.parse(input);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const found = methods[method];
      if (found === undefined) return [];
      const { operationId: id, tags, summary, description, security, requestBody, responses } = found;
      const content = requestBody?.content['application/json'];
      const described: DescribedOperation = {
        id,
        method,
        path,
        tag: tags[0] ?? '',
        summary,
        description,
        authenticated: security.length > 0,
        parameters: found.parameters.map((each) => {
          if (!('$ref' in each) || typeof each.$ref !== 'string') return parameter.parse(each);
          const named = components.parameters[each.$ref.split('/').at(-1) ?? ''];
          if (named === undefined) throw new Error(`${id} refers to ${each.$ref}, which is not there`);
          return named;
        }),
        body: content && { required: requestBody?.required ?? false, ...saidOf(content) },
        answers: Object.entries(responses).flatMap(([status, answer]) => {
          if ('$ref' in answer) return [];
          const contents = Object.entries(response.parse(answer).content);
          return contents.map(([contentType, each]) => ({ status: Number(status), contentType, ...saidOf(each) }));
        }),
      };
      return [described];
    }),
  );
  return { tags, operations, schemas: components.schemas };
}

function saidOf({ schema, example }: z.output<typeof media>): Content {
  return { schema, example };
}
