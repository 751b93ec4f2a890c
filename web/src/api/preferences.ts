// How the person likes the pages, kept by the server.

import { meApi, take, takeTagged } from './client.ts'
import type { Preferences } from './types.ts'

export type { Preferences } from './types.ts'

export const readPreferences = () => takeTagged(meApi.GET('/preferences'))

/** @param tag of the preferences that were changed @throws ApiError when another page changed them meanwhile */
export const replacePreferences = (preferences: Preferences, tag: string) =>
  take(meApi.PUT('/preferences', { params: { header: { 'If-Match': tag } }, body: preferences }))
