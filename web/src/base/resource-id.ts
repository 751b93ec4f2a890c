// Ids of resources, as they stand in the address of a page.

/** A prefix for the kind, and 24 characters. */
const RESOURCE_ID = /^[a-z]{2,8}_[a-z0-9]{24}$/

/** The id in a member of the address of a page; null for any other text, which a person or a link may have put there. */
export function resourceIdOf(text: string | undefined): string | null {
  return text !== undefined && RESOURCE_ID.test(text) ? text : null
}
