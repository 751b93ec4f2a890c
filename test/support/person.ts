// A signed-in person as their browser calls the appliance: with the cookie, from a page of the appliance.

import { cookieName } from '../../src/http/session-cookie.ts'
import type { MemberRole } from '../../src/people/members.ts'
import type { SignInSession } from '../../src/people/sessions.ts'
import type { Reply, TestAppliance } from './appliance.ts'

/** What a browser adds to requests of a page of the same origin. */
export const SAME_ORIGIN: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin', 'x-mailstead': '1' }

export class PersonClient {
  readonly #appliance: TestAppliance
  readonly email: string
  cookie: string

  constructor(appliance: TestAppliance, session: Pick<SignInSession, 'email' | 'token'>) {
    this.#appliance = appliance
    this.email = session.email
    this.cookie = `${cookieName(appliance.app.config)}=${session.token}`
  }

  /** @param path at the origin, such as `/me/v1/self` or `/as/team_…/api/v1/domains` */
  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const all = { ...SAME_ORIGIN, cookie: this.cookie, ...headers }
    return this.#appliance.call(method, this.#appliance.origin + path, null, body, all)
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.call('GET', path, undefined, headers)
  }
}

/** Makes a person a member of a team and signs them in. */
export async function signInMember(
  appliance: TestAppliance,
  teamId: string,
  role: MemberRole,
  email = `${role}@people.example`,
): Promise<PersonClient & { memberId: string }> {
  const { people, db } = appliance.app
  const made = await db.write((tx) => {
    const { id } = people.members.add(tx, teamId, { email, role })
    return { id, session: people.signInAs(tx, { email, teamId: null, mailboxId: null, shownBy: null }) }
  })
  return Object.assign(new PersonClient(appliance, made.session), { memberId: made.id })
}
