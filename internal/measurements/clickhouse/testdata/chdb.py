# Runs statements, a JSON list on standard input, in chDB: libchdb.so and a directory are its arguments.
import ctypes, json, os, sys
lib = ctypes.CDLL(sys.argv[1])
lib.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
lib.chdb_query.restype = ctypes.c_void_p
lib.chdb_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
for f, r in (("chdb_result_error", ctypes.c_char_p), ("chdb_result_buffer", ctypes.c_void_p), ("chdb_result_length", ctypes.c_size_t)):
    getattr(lib, f).restype = r; getattr(lib, f).argtypes = [ctypes.c_void_p]
args = [b"clickhouse", b"--path=" + sys.argv[2].encode()]
conn = lib.chdb_connect(len(args), (ctypes.c_char_p * len(args))(*args))
for q in json.load(sys.stdin):
    r = lib.chdb_query(conn[0], q.encode(), b"TabSeparated")
    e = lib.chdb_result_error(r)
    n = lib.chdb_result_length(r)
    print(json.dumps({"error": e.decode() if e else "", "text": ctypes.string_at(lib.chdb_result_buffer(r), n).decode() if n else ""}), flush=True)
os._exit(0)  # its threads do not survive an orderly end
