// Asks a person who came by a link, and has no way to sign in of their own, for a passkey before anything else.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { hasPasskeys } from '../api/person.ts'
import { self } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { me } from '../words/en/me.ts'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'
import { AddPasskey } from './passkeys.tsx'

/** Set when the person wants to do it later, until the page is loaded again. */
const isPutOff = signal(false)

/** Whether the person has nothing of their own to sign in with. */
function lacksOwnWay(): boolean {
  const ways = self.value?.sign_in
  if (ways === undefined || !ways.allowed.includes('passkey')) return false
  return ways.passkeys === 0 && !(ways.password && ways.allowed.includes('password'))
}

export const isPasskeyWanted = (): boolean => lacksOwnWay() && hasPasskeys() && !isPutOff.value

export function FirstPasskey({ title }: { title: string }) {
  const [isAdding, setAdding] = useState(false)
  const actions = (
    <div class="row wrap">
      <Button kind="primary" icon="fingerprint-pattern" onPress={() => setAdding(true)}>
        {me.addPasskey}
      </Button>
      <Button onPress={() => (isPutOff.value = true)}>{words.later}</Button>
    </div>
  )
  return (
    <Page title={title}>
      <Empty icon="fingerprint-pattern" title={words.first} action={actions}>
        {words.firstText}
      </Empty>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </Page>
  )
}

/** Stays above the pages of a person without a way of their own. */
export function NoOwnWay() {
  if (!lacksOwnWay() || self.value?.sign_in.links === true) return null
  return <ToneLine tone="warn">{hasPasskeys() ? words.laterText : words.notHere}</ToneLine>
}
