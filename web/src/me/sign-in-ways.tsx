// The ways in: passkeys, recovery codes, and a password where the operator allows one.

import { useState } from 'preact/hooks'
import { makeRecoveryCodes, removePassword, setPassword } from '../api/person.ts'
import { loadSelf, self } from '../api/session.ts'
import { useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Page, Section } from '../parts/page.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { me as words } from '../words/en/me.ts'
import { Passkeys } from './passkeys.tsx'

export function SignInWays() {
  return (
    <Page
      title={words.pages.signIn}
      note={self.value!.email}
      curl={[{ method: 'GET', path: '/passkeys', base: '/me/v1' }]}
    >
      <Passkeys />
      <RecoveryCodes />
      {self.value!.sign_in.allowed.includes('password') && <Password />}
    </Page>
  )
}

function RecoveryCodes() {
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const [isAsking, setAsking] = useState(false)
  const left = self.value!.sign_in.recovery_codes
  const make = useAction(async () => {
    const made = await makeRecoveryCodes()
    setAsking(false)
    setCodes(made.codes)
    await loadSelf()
  })
  const button = (
    <Button isBusy={make.isBusy} onPress={() => (left > 0 ? setAsking(true) : void make.run())}>
      {words.makeCodes}
    </Button>
  )
  return (
    <Section title={words.codes} note={left > 0 ? words.codesLeft(left) : words.noCodes} actions={button}>
      {make.error !== null && <ErrorCard error={make.error} />}
      {isAsking && (
        <Dialog
          title={words.makeTitle}
          onClose={() => setAsking(false)}
          foot={
            <>
              <Button onPress={() => setAsking(false)}>{common.cancel}</Button>
              <Button kind="primary" isBusy={make.isBusy} onPress={() => void make.run()}>
                {words.makeCodes}
              </Button>
            </>
          }
        >
          <p>{words.makeText}</p>
        </Dialog>
      )}
      {codes !== null && <Codes codes={codes} onClose={() => setCodes(null)} />}
    </Section>
  )
}

function Codes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const foot = (
    <>
      <CopyButton text={codes.join('\n')} />
      <Button size="short" onPress={() => print()}>
        {words.print}
      </Button>
      <Button size="short" kind="primary" onPress={onClose}>
        {common.done}
      </Button>
    </>
  )
  return (
    <Dialog title={words.codesTitle} onClose={onClose} foot={foot}>
      <p class="soft">{words.codesText}</p>
      <ol class="codes panel">
        {codes.map((code) => (
          <li key={code} class="mono">
            {code}
          </li>
        ))}
      </ol>
    </Dialog>
  )
}

function Password() {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const hasOne = self.value!.sign_in.password
  const save = useAction(async () => {
    await setPassword(text)
    await loadSelf()
    setOpen(false)
    setText('')
    say(words.passwordSet)
  })
  const remove = useAction(async () => {
    await removePassword()
    await loadSelf()
    say(words.passwordRemoved)
  })
  const actions = (
    <>
      {hasOne && (
        <Button kind="danger" isBusy={remove.isBusy} onPress={() => void remove.run()}>
          {words.removePassword}
        </Button>
      )}
      <Button onPress={() => setOpen(true)}>{hasOne ? words.changePassword : words.setPassword}</Button>
    </>
  )
  const error = save.error?.fieldMessage('password')
  const foot = <FormFoot verb={words.save} action={save} onClose={() => setOpen(false)} />
  return (
    <Section title={words.password} note={hasOne ? words.passwordOn : words.passwordOff} actions={actions}>
      {remove.error !== null && <ErrorCard error={remove.error} />}
      {isOpen && (
        <Dialog
          title={hasOne ? words.changePassword : words.setPassword}
          foot={foot}
          error={error === undefined ? save.error : null}
          onClose={() => setOpen(false)}
          onSubmit={() => void save.run()}
        >
          <TextField
            label={words.newPassword}
            type="password"
            autoComplete="new-password"
            hint={words.newPasswordHint}
            value={text}
            onValue={setText}
            error={error}
            hasFocus
          />
        </Dialog>
      )}
    </Section>
  )
}
