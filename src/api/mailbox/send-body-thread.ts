// The thread in which large mails of a mailbox are read.

import { inThread } from '../../http/large-body.ts'
import { reader } from './send-body.ts'

export default inThread(reader)
