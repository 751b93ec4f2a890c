// Loads @simplewebauthn/server by `require`: its packages for ASN.1 exist in two forms, and mixing them loses their schemas.

const { decodeCredentialPublicKey } = require('@simplewebauthn/server/helpers')

module.exports = { ...require('@simplewebauthn/server'), decodeCredentialPublicKey }
