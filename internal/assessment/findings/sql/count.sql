{{covered}}
SELECT count(*) {{matching}}
