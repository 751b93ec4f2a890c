// Random access to lists of messages and threads: a page by its position, and the length of the list.

import { type Static, Type } from 'typebox'
import { notFound, ProductError } from '../../base/errors.ts'
import { Id } from '../../http/schema.ts'
import type { PageKey } from '../../store/rows/records.ts'

/** Largest `position` together with `q`: the matches before it have to be read. */
const TEXT_POSITION_MAX = 10_000
const POSITION_MAX = 100_000_000

/** Query parameters in addition to the filters of a list. */
export const listPosition = {
  position: Type.Integer({
    minimum: 0,
    maximum: POSITION_MAX,
    description:
      'Number of entries before the page, instead of `cursor`; beyond the end the page is empty. At most 10,000 together with `q`. ' +
      '`meta.position` returns it.',
  }),
  with_total: Type.Boolean({
    description: 'Returns the length of the list as `meta.total`: null when `q` has more than 10,000 matches.',
  }),
}

/** Query parameter of thread lists in addition. */
export const listAnchor = {
  anchor_id: {
    ...Id('thread'),
    description:
      'Returns the page that has this thread, with `limit` entries in a page, instead of `position` and `cursor`; `meta.position` is ' +
      'where it begins. 404 when the list does not have the thread.',
  },
}

const Anchor = Type.Partial(Type.Object(listAnchor))

const Position = Type.Partial(Type.Object(listPosition))

/**
 * The position of a request; undefined without one.
 * @throws ProductError invalid_parameter together with a cursor, or too far into the matches of a text
 */
export function readPosition(
  { position, q }: Static<typeof Position> & { q?: string },
  after: PageKey | null,
): number | undefined {
  if (position === undefined) return undefined
  if (after !== null)
    throw wrong('position', 'forbidden_value', 'position cannot be combined with cursor. Send one of them.')
  if (q !== undefined && position > TEXT_POSITION_MAX) {
    throw wrong('position', 'too_big', `position is at most ${TEXT_POSITION_MAX} together with q.`)
  }
  return position
}

/**
 * Where the page begins that has the anchor of a request; undefined without an anchor.
 * @param indexOf number of entries of the list before an entry; null if the list does not have it
 * @throws ProductError invalid_parameter together with a position or a cursor, or too far into the matches of a text; not_found
 */
export async function readAnchor(
  query: Static<typeof Position> & Static<typeof Anchor> & { q?: string; limit: number },
  after: PageKey | null,
  indexOf: (id: string) => Promise<number | null>,
): Promise<number | undefined> {
  const { anchor_id: id, position, q, limit } = query
  if (id === undefined) return undefined
  if (position !== undefined || after !== null) {
    const message = 'anchor_id cannot be combined with position and cursor. Send one of them.'
    throw wrong('anchor_id', 'forbidden_value', message)
  }
  const index = await indexOf(id)
  if (index === null) throw notFound('thread')
  const start = index - (index % limit)
  if (q !== undefined && start > TEXT_POSITION_MAX) {
    throw wrong('anchor_id', 'too_big', `Together with q the thread is among the first ${TEXT_POSITION_MAX} matches.`)
  }
  return start
}

function wrong(field: string, code: string, message: string): ProductError {
  return new ProductError('invalid_parameter', message, { issues: [{ field, code, message }] })
}
