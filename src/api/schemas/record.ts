// The form every record of the REST surface has: named, described, and closed.

import { type TObject, type TProperties, Type } from 'typebox'

/**
 * The schema of one record. Closed, so that the check of replies in tests finds a member nobody declared.
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
