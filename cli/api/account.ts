import { userInfo } from 'node:os';

/** The account that runs the command. In a container a user id may have no name. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

/** {@link account} as the actor of an audit entry. */
export function actor(): string {
  return `command/${account()}`;
}
