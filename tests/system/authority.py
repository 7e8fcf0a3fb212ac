"""Signs certificates for servers and clients under test, in a folder of its own.

    authority = Authority(tmp_path)
    certificate, key = authority.issue("site.test", "site.test", "127.0.0.1")
"""

import ipaddress

from weft_process import run


def alternative_name(name):
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        return f"DNS:{name}"


class Authority:
    def __init__(self, folder, name="authority"):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.file = folder / "ca.pem"
        self._openssl("req", "-x509", *self._new_key("ca"), "-days", "2", "-subj", f"/CN={name}", "-out", self.file)

    def _new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                self.folder / f"{name}.key"]

    @staticmethod
    def _openssl(*arguments):
        done = run(["openssl", *arguments])
        assert done.returncode == 0, done.stderr

    def issue(self, name, *names, to=None):
        """The files of a certificate for these names and addresses, and of its key."""
        request, extension = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        certificate = self.folder / f"{to or name}.pem"
        key = self._new_key(to or name)
        self._openssl("req", *key, "-subj", f"/CN={name}", "-out", request)
        extension.write_text("basicConstraints=CA:FALSE\n" + (
            f"subjectAltName={','.join(map(alternative_name, names))}\n" if names else ""))
        self._openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.folder / "ca.key",
                      "-CAcreateserial", "-days", "2", "-extfile", extension, "-out", certificate)
        return certificate, key[-1]


def tls_options(certificate):
    """Options of a program whose http::server is to speak TLS with what issue() gave."""
    return f"--http.server.tls.certificate={certificate[0]}", f"--http.server.tls.key={certificate[1]}"
