// The page to sign in: a passkey first, a mailed link second, password and recovery code behind links.

import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api/errors.ts'
import { readFirstRun } from '../api/first-run.ts'
import { hasPasskeys, mailLink, signInByPasskey, signInByPassword, signInByRecoveryCode } from '../api/person.ts'
import { nextPage } from '../base/next-page.ts'
import { useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Secret } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Check, TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { describe, ErrorCard } from '../parts/quiet.tsx'
import { common } from '../words/en/common.ts'
import { signIn as words } from '../words/en/sign-in.ts'

const WAYS = ['link', 'password', 'code'] as const
type Way = (typeof WAYS)[number]

const enter = () => location.assign(nextPage(location.search, location.origin))

export function SignIn() {
  const [isTrusted, setTrusted] = useState(false)
  const [chosen, setChosen] = useState<Way | null>(null)
  // Until it is known what the operator allows: the usual ways.
  const allowed = useQuery(['sign-in'], readFirstRun).data?.allowed ?? ['passkey', 'link']
  const hasPasskey = allowed.includes('passkey')
  const ways = WAYS.filter((way) => way === 'code' || allowed.includes(way))
  const way = chosen ?? ways[0]!
  useEffect(() => {
    document.title = `${words.title}`
  }, [])
  return (
    <div class="alone">
      <main class="alone-main">
        <Mark size="huge" />
        <h1>{words.title}</h1>
        <div class="card alone-card">
          <div class="stack">
            {hasPasskey && <ByPasskey isTrusted={isTrusted} keepsPasswords={allowed.includes('password')} />}
            {hasPasskey && <p class="or">{words.or}</p>}
            {way === 'link' && <ByLink />}
            {way === 'password' && <ByPassword isTrusted={isTrusted} />}
            {way === 'code' && <ByCode />}
          </div>
          <div class="card-part">
            <Check label={words.trust} note={words.trustNote} isOn={isTrusted} onChange={setTrusted} />
          </div>
        </div>
        <OtherWays ways={ways.filter((one) => one !== way)} choose={setChosen} />
      </main>
      <footer class="alone-foot">
        <Icon name="lock" />
        <span>
          {words.youAreAt} <b>{location.host}</b>. {words.checkAddress}
        </span>
      </footer>
    </div>
  )
}

/** Said of what a person entered; other errors have a title of their own. */
const wrongOf = ({ status }: ApiError) => (status === 401 ? words.wrong : undefined)

/** A person who cancels gets a hint, everything else an error. */
function PasskeyError({ error }: { error: ApiError }) {
  if (error.code === 'cancelled') return <ToneLine tone="warn">{words.cancelled}</ToneLine>
  return <ToneLine tone="danger">{describe(error).hint || words.wrong}</ToneLine>
}

function ByPasskey({ isTrusted, keepsPasswords }: { isTrusted: boolean; keepsPasswords: boolean }) {
  const action = useAction(async () => {
    await signInByPasskey(isTrusted)
    enter()
  })
  if (!hasPasskeys()) return <ToneLine tone="warn">{words.noPasskeys}</ToneLine>
  return (
    <>
      <Button
        kind="primary"
        size="touch"
        icon="fingerprint-pattern"
        isBusy={action.isBusy}
        onPress={() => void action.run()}
      >
        {words.passkey}
      </Button>
      <p class="soft meta centred">
        {words.passkeyHint}
        {!keepsPasswords && (
          <>
            <br />
            {words.noPasswordKept}
          </>
        )}
      </p>
      {action.error !== null && <PasskeyError error={action.error} />}
    </>
  )
}

function ByLink() {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string | null>(null)
  const action = useAction(async () => {
    await mailLink(email.trim())
    setSentTo(email.trim())
  })
  if (sentTo !== null) {
    return (
      <div class="stack" role="status">
        <ToneLine tone="good">
          <b>{words.linkSentTitle}.</b> {words.linkSent(sentTo)}
        </ToneLine>
        <Button onPress={() => setSentTo(null)}>{words.anotherAddress}</Button>
      </div>
    )
  }
  return (
    <Form class="field" onSubmit={() => void action.run()}>
      <EmailField value={email} onValue={setEmail} error={action.error} hint={words.linkHint} />
      <Button size="form" submits isBusy={action.isBusy}>
        {words.mailLink}
      </Button>
    </Form>
  )
}

function ByPassword({ isTrusted }: { isTrusted: boolean }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const action = useAction(async () => {
    await signInByPassword(email.trim(), password, isTrusted)
    enter()
  })
  return (
    <Form class="field" onSubmit={() => void action.run()}>
      <EmailField value={email} onValue={setEmail} error={null} />
      <TextField
        label={words.password}
        type="password"
        autoComplete="current-password"
        isLarge
        value={password}
        onValue={setPassword}
      />
      {action.error !== null && <ErrorCard error={action.error} title={wrongOf(action.error)} />}
      <Button size="form" submits isBusy={action.isBusy}>
        {words.signIn}
      </Button>
    </Form>
  )
}

function ByCode() {
  const [email, setEmail] = useState('')
  const [code, setCode] = useState('')
  const action = useAction(async () => {
    await signInByRecoveryCode(email.trim(), code.trim())
    enter()
  })
  return (
    <Form class="field" onSubmit={() => void action.run()}>
      <EmailField value={email} onValue={setEmail} error={null} />
      <TextField label={words.code} hint={words.codeHint} isLarge isMono value={code} onValue={setCode} />
      {action.error !== null && <ErrorCard error={action.error} title={wrongOf(action.error)} />}
      <Button size="form" submits isBusy={action.isBusy}>
        {words.signIn}
      </Button>
    </Form>
  )
}

interface EmailFieldProps {
  value: string
  onValue: (value: string) => void
  error: ApiError | null
  hint?: string
}

function EmailField({ value, onValue, error, hint }: EmailFieldProps) {
  return (
    <TextField
      label={words.email}
      type="email"
      inputMode="email"
      autoComplete="username"
      placeholder={words.emailPlaceholder}
      isLarge
      value={value}
      onValue={onValue}
      hint={hint}
      error={error === null ? undefined : (error.fieldMessage('email') ?? describe(error).hint)}
    />
  )
}

const labelOf = (way: Way) => ({ link: words.withLink, password: words.withPassword, code: words.withCode })[way]

function OtherWays({ ways, choose }: { ways: readonly Way[]; choose: (way: Way) => void }) {
  const [isStuck, setStuck] = useState(false)
  return (
    <div class="alone-links meta">
      {ways.map((name) => (
        <Button key={name} kind="link" onPress={() => choose(name)}>
          {labelOf(name)}
        </Button>
      ))}
      <Button kind="link" onPress={() => setStuck(true)}>
        {words.cannot}
      </Button>
      {isStuck && (
        <Dialog
          title={words.cannotTitle}
          onClose={() => setStuck(false)}
          foot={<Button onPress={() => setStuck(false)}>{common.close}</Button>}
        >
          <p>{words.cannotText}</p>
          <Secret text={words.cannotCommand} />
        </Dialog>
      )}
    </div>
  )
}
