// What the signed-in person says of themselves, and how they like the pages.

import { type Static, type TSchema, Type } from 'typebox'
import { invalid } from '../base/errors.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { Nullable, Words } from '../http/schema.ts'
import { isMailableName, notMailable } from '../mime/one-line.ts'
import { ME_ROUTE, UNAUDITED_ROUTE } from './me-route.ts'
import { Self } from './schemas.ts'
import { presentSelf, sessionIn } from './self.ts'

const docs = { tag: 'Person' }
const PREFERENCES_MAX = 65_536

const updateSelf = route({
  ...ME_ROUTE,
  method: 'PATCH',
  path: '/self',
  docs: {
    ...docs,
    operation: 'updateSelf',
    summary: 'Change your name, language and time zone',
    description: 'Members that are left out stay.',
  },
  body: {
    schema: record('SelfUpdate', 'What is left out stays.', {
      display_name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
      locale: Type.Optional(
        Nullable(Type.String({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$', examples: ['en-US'] })),
      ),
      time_zone: Type.Optional(
        Nullable(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$', examples: ['Europe/Vienna'] })),
      ),
    }),
  },
  reply: { schema: Self },
  async handle({ body, app, request }) {
    const session = sessionIn(request)
    const { persons } = app.people
    await app.db.write((tx) => {
      app.people.requireWhole(session, tx)
      const { displayName, locale, timeZone } = persons.ensure(tx, session.email)
      persons.setProfile(tx, session.email, {
        displayName: body.display_name === undefined ? displayName : checkedName(body.display_name, displayName),
        locale: body.locale === undefined ? locale : body.locale,
        timeZone: body.time_zone === undefined ? timeZone : body.time_zone,
      })
    })
    return presentSelf(app, session)
  },
})

/** @param current a name of an earlier version stays valid */
function checkedName(name: string | null, current: string | null): string | null {
  if (name === null || name === current || isMailableName(name)) return name
  throw invalid('display_name', 'forbidden_value', notMailable('display_name'))
}

const choice = <S extends TSchema>(schema: S) => Type.Optional(schema)
const PREFERENCES = {
  theme: choice(Words(['system', 'light', 'dark'])),
  density: choice(Words(['comfortable', 'cosy', 'compact'])),
  reading_pane: choice(Words(['right', 'below', 'off'])),
  conversation: choice(Type.Boolean()),
  mark_read_after: choice(Nullable(Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds; null: never.' }))),
  remote_images: choice(Words(['ask', 'known', 'always', 'never'])),
  undo_seconds: choice(Type.Integer({ minimum: 0, maximum: 120 })),
  reply_default: choice(Words(['one', 'all'])),
  quote_position: choice(Words(['below', 'above'])),
  format: choice(Words(['html', 'text'])),
  keys: choice(
    Type.Object({
      enabled: Type.Boolean(),
      map: Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 })),
    }),
  ),
  week_start: choice(Words(['monday', 'saturday', 'sunday'])),
  clock: choice(Words(['12', '24'])),
  notifications: choice(Words(['none', 'important', 'all'])),
  swipe: choice(Type.Object({ left: Type.String({ maxLength: 32 }), right: Type.String({ maxLength: 32 }) })),
  panes: choice(Type.Record(Type.String({ maxLength: 32 }), Type.Number({ minimum: 0, maximum: 10_000 }))),
}
const SAYS = 'How the person likes the pages. Members that are absent have the default of the page.'
const Preferences = record('Preferences', SAYS, PREFERENCES)
const PreferencesUpdate = record('PreferencesUpdate', SAYS, PREFERENCES)

const readPreferences = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/preferences',
  docs: {
    ...docs,
    operation: 'getPreferences',
    summary: 'Get your preferences',
    description: 'What the console remembers for you, on every browser.',
  },
  reply: { schema: Preferences, etag: true },
  handle({ app, request }) {
    return preferencesOf(app.people.persons.get(sessionIn(request).email)?.preferences)
  },
})

const replacePreferences = route({
  ...UNAUDITED_ROUTE,
  method: 'PUT',
  path: '/preferences',
  docs: {
    ...docs,
    operation: 'replacePreferences',
    summary: 'Replace your preferences',
    description: 'The whole set: members that are left out get their defaults.',
  },
  body: { schema: PreferencesUpdate, limit: PREFERENCES_MAX },
  reply: { schema: Preferences, etag: true },
  async handle({ body, app, request }) {
    const session = sessionIn(request)
    const { email } = session
    const { persons } = app.people
    await app.db.write((tx) => {
      app.people.requireWhole(session, tx)
      request.matches(preferencesOf(persons.get(email, tx)?.preferences))
      persons.setPreferences(tx, email, JSON.stringify(body))
    })
    return body
  },
})

function preferencesOf(stored: string | null | undefined): Static<typeof Preferences> {
  return JSON.parse(stored ?? '{}') as Static<typeof Preferences>
}

export const profileRoutes = [updateSelf, readPreferences, replacePreferences]
