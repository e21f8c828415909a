import { endpointNames } from '#simulator/behaviour/dialect.ts';
import { QUERY_FIELDS } from '#simulator/service/requests.ts';
import { errorShape, queryNames } from '#simulator/shapes/answers.ts';
import { isArray, isObject, type Json, jsonFrom, type JsonObject, objectAt, textAt } from '#simulator/shapes/json.ts';
import { looksPlain } from '#simulator/shapes/shape.ts';
import { itemSchema, type Shaper } from '#simulator/shapes/shaper.ts';
import { wireSchema } from '#simulator/wire.ts';
import { DEFAULT_HEADER_PREFIX, type EndpointName, serviceHeaders, type ServiceHeaders } from '#upstream/contract.ts';

const JSON_TYPE = 'application/json';

export function shapedDocument(plain: object, shaper: Shaper): object {
  if (looksPlain(shaper.shape)) return plain;
  const document = objectAt(jsonFrom(plain));
  return {
    ...document,
    paths: mapped(objectAt(document, 'paths'), (path) => mapped(path, (call) => shapedOperation(call, shaper))),
    webhooks: mapped(objectAt(document, 'webhooks'), (hook, event) =>
      mapped(hook, (post) => shapedWebhook(post, event, shaper)),
    ),
    components: shapedComponents(objectAt(document, 'components'), shaper),
  };
}

function mapped(object: JsonObject, change: (value: JsonObject, name: string) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, isObject(value) ? change(value, name) : value]),
  );
}

function shapedOperation(operation: JsonObject, shaper: Shaper): JsonObject {
  const name = endpointNames.find((each) => each === operation['operationId']);
  if (name === undefined) return operation;
  const { parameters } = operation;
  return {
    ...operation,
    ...(isArray(parameters) ? { parameters: shapedParameters(parameters, shaper) } : {}),
    responses: mapped(objectAt(operation, 'responses'), (response, status) =>
      status.startsWith('2') ? shapedResponse(response, name, shaper) : shapedRefusal(response, shaper),
    ),
  };
}

function shapedParameters(parameters: readonly Json[], { shape }: Shaper): Json {
  const described = new Map(parameters.filter(isObject).map((each) => [textAt(each, 'name'), each]));
  const others = [...described.values()].filter((each) => each['in'] !== 'query');
  const names = [...described].filter(([, each]) => each['in'] === 'query').map(([name]) => name);
  const query = queryNames(names, shape.paging).map((name): Json => {
    const known = described.get(name);
    const field = QUERY_FIELDS[name];
    const schema = field === undefined ? { type: 'string' } : jsonFrom(wireSchema(field));
    return known ?? { in: 'query', name, schema };
  });
  return [...others, ...query];
}

function shapedResponse(response: JsonObject, name: EndpointName, shaper: Shaper): JsonObject {
  const shaped = shaper.described(name);
  if (shaped === undefined) return response;
  const isList = itemSchema(objectAt(response, 'content', JSON_TYPE, 'schema')) !== undefined;
  const linked = isList && shaper.shape.paging === 'link';
  const description = 'Address of the next page, with rel="next"; absent on the last.';
  return {
    ...response,
    ...(linked ? { headers: { Link: { description, schema: { type: 'string' } } } } : {}),
    content: { [JSON_TYPE]: { schema: shaped.schema } },
  };
}

function shapedRefusal(response: JsonObject, { shape }: Shaper): JsonObject {
  const shaped = errorShape(shape.errors);
  const { content, ...rest } = response;
  if (shaped === undefined) return response;
  const schema = objectAt(content ?? {}, JSON_TYPE);
  return shaped.contentType === undefined ? rest : { ...rest, content: { [shaped.contentType]: schema } };
}

function shapedWebhook(post: JsonObject, event: string, shaper: Shaper): JsonObject {
  const ours = namesOf(serviceHeaders(DEFAULT_HEADER_PREFIX));
  const theirs = namesOf(serviceHeaders(shaper.shape.header_prefix));
  const { parameters } = post;
  const plain = objectAt(post, 'requestBody', 'content', JSON_TYPE, 'schema');
  return {
    ...post,
    parameters: (isArray(parameters) ? parameters : []).filter(isObject).map((each) => {
      return { ...each, name: theirs[ours.indexOf(textAt(each, 'name'))] ?? '' };
    }),
    requestBody: {
      ...objectAt(post, 'requestBody'),
      content: { [JSON_TYPE]: { schema: shaper.describedEvent(event, plain).schema } },
    },
  };
}

function namesOf({ event, delivery, timestamp, signature }: ServiceHeaders): readonly string[] {
  return [event, delivery, timestamp, signature];
}

function shapedComponents(components: JsonObject, { shape }: Shaper): JsonObject {
  const shaped = errorShape(shape.errors);
  if (shaped === undefined) return components;
  const schemas = { ...objectAt(components, 'schemas'), Error: shaped.schema };
  return { ...components, schemas };
}
