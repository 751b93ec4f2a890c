// The common form of API schemas: named, described, and closed.

import { type TObject, type TProperties, Type } from 'typebox'

/**
 * The schema of one record. Closed, so that tests find undeclared members in responses.
 * @param title its name in the OpenAPI document
 */
export function record<P extends TProperties>(
  title: string,
  description: string,
  properties: P,
  example?: Record<string, unknown>,
): TObject<P> {
  return Type.Object(properties, {
    title,
    description,
    additionalProperties: false,
    ...(example === undefined ? {} : { examples: [example] }),
  })
}
