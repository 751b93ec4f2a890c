// The session has ended: a dialog over the page signs the person in again, so that nothing they typed is lost.

import { useEffect, useState } from 'preact/hooks'
import { signInWanted } from '../api/client.ts'
import { hasPasskeys, signInByPasskey, signInByPassword } from '../api/person.ts'
import { loadSelf, self } from '../api/session.ts'
import type { Self } from '../api/types.ts'
import { useAction } from '../live/action.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { shell } from '../words/en/shell.ts'

const words = shell.ended

/** The page to sign in, which leads back to the open page. */
export const signInHref = () => `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`

export function SessionEnded() {
  return signInWanted.value === null || self.value === null ? null : (
    <SignInDialog person={self.value} answer={signInWanted.value} />
  )
}

function waysOf({ sign_in: { password, passkeys, allowed } }: Self) {
  return { hasPassword: password && allowed.includes('password'), hasPasskey: hasPasskeys() && passkeys > 0 }
}

interface SignInDialogProps {
  /** Who was signed in. */
  person: Self
  answer: (isSignedIn: boolean) => void
}

function SignInDialog({ person, answer }: SignInDialogProps) {
  const [password, setPassword] = useState('')
  /** What the page shows is that of the person who opened it. */
  const goOn = (now: Self | null) => {
    if (now?.email === person.email) answer(true)
    else if (now !== null) location.assign('/console')
  }
  const byPasskey = useAction(async () => goOn(await signInByPasskey(false)))
  const byPassword = useAction(async () => goOn(await signInByPassword(person.email, password, false)))
  const look = useAction(async () => goOn(await loadSelf().finally(() => (self.value ??= person))))
  useEffect(() => {
    // Back from the tab in which they signed in.
    const onFocus = () => void look.run()
    window.addEventListener('focus', onFocus)
    return () => window.removeEventListener('focus', onFocus)
  }, [])
  const { hasPassword, hasPasskey } = waysOf(person)
  const leave = () => {
    answer(false)
    location.assign(signInHref())
  }
  const foot = (
    <>
      <Button onPress={leave}>{words.leave}</Button>
      <ButtonLink href="/sign-in" isNewTab>
        {words.otherTab}
      </ButtonLink>
      {hasPassword && (
        <Button submits kind={hasPasskey ? undefined : 'primary'} isBusy={byPassword.isBusy} isOff={password === ''}>
          {words.signIn}
        </Button>
      )}
      {hasPasskey && (
        <Button
          kind="primary"
          icon="fingerprint-pattern"
          isBusy={byPasskey.isBusy}
          onPress={() => void byPasskey.run()}
        >
          {words.passkey}
        </Button>
      )}
    </>
  )
  return (
    <Dialog title={words.title} foot={foot} onClose={leave} onSubmit={() => void byPassword.run()}>
      <p>{words.text(person.email)}</p>
      {hasPassword && (
        <TextField
          label={shell.proof.password}
          type="password"
          autoComplete="current-password"
          value={password}
          onValue={setPassword}
        />
      )}
      {(byPasskey.error ?? byPassword.error) !== null && <ToneLine tone="danger">{words.failed}</ToneLine>}
    </Dialog>
  )
}
