import * as v from 'valibot'
import { anyText, flag, HttpUrl, line, map, oneOf, open } from './schema.ts'

const describable = { description: v.optional(anyText) }

const flow = (required: Record<string, typeof HttpUrl>) =>
  open({
    ...required,
    scopes: map(anyText),
    refreshUrl: v.optional(HttpUrl),
    pkceRequired: v.optional(flag),
  })

const oauthFlows = open({
  authorizationCode: v.optional(flow({ authorizationUrl: HttpUrl, tokenUrl: HttpUrl })),
  clientCredentials: v.optional(flow({ tokenUrl: HttpUrl })),
  deviceCode: v.optional(flow({ deviceAuthorizationUrl: HttpUrl, tokenUrl: HttpUrl })),
  implicit: v.optional(flow({ authorizationUrl: HttpUrl })),
  password: v.optional(flow({ tokenUrl: HttpUrl })),
})

const kinds = {
  apiKeySecurityScheme: {
    ...describable,
    name: line,
    location: oneOf('header', 'query', 'cookie'),
  },
  httpAuthSecurityScheme: { ...describable, scheme: line, bearerFormat: v.optional(line) },
  oauth2SecurityScheme: { ...describable, oauth2MetadataUrl: v.optional(HttpUrl), flows: oauthFlows },
  openIdConnectSecurityScheme: { ...describable, openIdConnectUrl: HttpUrl },
  mtlsSecurityScheme: describable,
}

/** One way to authenticate, wrapped as v1.0 does. A scheme that A2A does not know is kept as it is. */
export const SecurityScheme = v.pipe(
  open(
    Object.fromEntries(
      Object.entries<v.ObjectEntries>(kinds).map(([name, entries]) => [name, v.optional(open(entries))]),
    ),
  ),
  v.check(
    scheme => Object.keys(kinds).filter(name => name in scheme).length < 2,
    'is of several kinds: give each its own name in securitySchemes',
  ),
)
