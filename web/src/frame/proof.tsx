// The proof that a person is still there, which changes of access want: a dialog over the page that asked for it.

import { useState } from 'preact/hooks'
import { proofWanted } from '../api/client.ts'
import { confirmByPasskey, confirmByPassword, hasPasskeys } from '../api/person.ts'
import { self } from '../api/session.ts'
import { useAction } from '../live/action.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { common } from '../words/en/common.ts'
import { shell } from '../words/en/shell.ts'
import { signInHref } from './session-ended.tsx'

const words = shell.proof

export function Proof() {
  return proofWanted.value === null ? null : <ProofDialog answer={proofWanted.value} />
}

function ProofDialog({ answer }: { answer: (isProven: boolean) => void }) {
  const [password, setPassword] = useState('')
  const ways = self.value?.sign_in
  const hasPassword = ways?.password === true && ways.allowed.includes('password')
  const hasPasskey = hasPasskeys() && (ways?.passkeys ?? 0) > 0
  const byPasskey = useAction(async () => {
    await confirmByPasskey()
    answer(true)
  })
  const byPassword = useAction(async () => {
    await confirmByPassword(password)
    answer(true)
  })
  if (!hasPassword && !hasPasskey) return <SignInAgain onClose={() => answer(false)} />
  const foot = (
    <>
      <Button onPress={() => answer(false)}>{common.cancel}</Button>
      {hasPassword && (
        <Button submits isBusy={byPassword.isBusy} isOff={password === ''}>
          {words.confirm}
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
    <Dialog title={words.title} foot={foot} onClose={() => answer(false)} onSubmit={() => void byPassword.run()}>
      <p>{words.text}</p>
      {hasPassword && (
        <TextField
          label={words.password}
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

/** For those who signed in by a link or a code: nothing here proves who they are. */
function SignInAgain({ onClose }: { onClose: () => void }) {
  const leave = () => {
    onClose()
    location.assign(signInHref())
  }
  const foot = (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button kind="primary" onPress={leave}>
        {words.again}
      </Button>
    </>
  )
  return (
    <Dialog title={words.title} foot={foot} onClose={onClose}>
      <p>{self.value?.sign_in.links === false ? words.noneByLink : words.none}</p>
    </Dialog>
  )
}
