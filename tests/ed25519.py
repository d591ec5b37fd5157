"""Signatures as RFC 8032 defines them, checked in plain Python: slow, short, and no code of libcrypto."""
import hashlib

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    """Two points as (x, y) on -x^2 + y^2 = 1 + D x^2 y^2."""
    product = D * a[0] * b[0] * a[1] * b[1]
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + product, -1, P)
    return x % P, (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P) % P


def times(k, point):
    total = (0, 1)
    for bit in bin(k)[2:]:
        total = add(total, total)
        total = add(total, point) if bit == "1" else total
    return total


def point(text):
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (2 ** 255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square:
        raise ValueError("not a point of the curve")
    return (P - x if x % 2 != sign else x), y


def ed25519(public, message, signature):
    """Whether this is the signature of the message."""
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= ORDER:
        return False
    try:
        key, commitment = point(public), point(signature[:32])
    except ValueError:
        return False
    base = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    return times(s, base) == add(commitment, times(k, key))
