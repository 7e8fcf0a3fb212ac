"""Signs certificates for servers and clients under test, in a folder of its own.

    authority = Authority(tmp_path)
    certificate, key = authority.issue("site.test", "site.test", "127.0.0.1")
    authority.revoke(certificate)     # from now on it is in the list authority.crl
"""

import ipaddress
import time

from weft_process import run

# What `openssl ca` wants to know before it signs with an end, or revokes.
LEDGER = """[ca]
default_ca = this
[this]
database = {folder}/index.txt
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
rand_serial = yes
default_md = sha256
default_crl_days = 1
policy = any
unique_subject = no
[any]
commonName = supplied
"""


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

    @property
    def crl(self):
        return self.folder / "crl.pem"

    def _keep_books(self, *arguments):
        ledger = self.folder / "ledger.cnf"
        if not ledger.exists():
            ledger.write_text(LEDGER.format(folder=self.folder))
            (self.folder / "index.txt").touch()
        self._openssl("ca", "-batch", "-config", ledger, *arguments)

    def issue_until(self, name, end):
        """As issue(), of a certificate that ends at `end` (time.time())."""
        request, certificate = self.folder / f"{name}.csr", self.folder / f"{name}.pem"
        key = self._new_key(name)
        self._openssl("req", *key, "-subj", f"/CN={name}", "-out", request)
        moments = [time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at)) for at in (end - 3600, end)]
        self._keep_books("-in", request, "-out", certificate, "-notext", "-startdate", moments[0], "-enddate",
                         moments[1])
        return certificate, key[-1]

    def revoke(self, *certificates):
        for each in certificates:
            self._keep_books("-revoke", each)
        self._keep_books("-gencrl", "-out", self.crl)
        return self.crl

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
