// Code that verifies the signature of a webhook request: the samples of docs/webhooks.md, which a test compares.

export const webhookSamples = {
  node: `import { createHmac, timingSafeEqual } from 'node:crypto'

/** @param body Buffer with the raw body @param header value of X-Service-Signature */
export function verify(body, header, secret) {
  const expected = Buffer.from(\`sha256=\${createHmac('sha256', secret).update(body).digest('hex')}\`)
  const given = Buffer.from(header ?? '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
`,
  python: `import hashlib
import hmac


def verify(body: bytes, header: str, secret: str) -> bool:
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), (header or "").encode())
`,
  go: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Verify takes the raw body and the value of X-Service-Signature.
func Verify(body []byte, header, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(header))
}
`,
  php: `<?php
// $body = file_get_contents('php://input'); $header = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
function verify(string $body, string $header, string $secret): bool
{
    return hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $header);
}
`,
}
